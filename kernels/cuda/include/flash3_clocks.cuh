// When each warpgroup of flash3 did what: its first thread reads the SM's clock between the stages. Only with -DCLOCKS=1: in
// the kernel that is timed every mark below is nothing.
//
// Registers are short: clocks wait in shared memory, 48 bytes a warpgroup behind the barriers, and go out 16 bytes a row
// while products are under way. Of each tile of queries a warpgroup has a row and one more for each of its key tiles, and
// one for the end; 0 is a clock that nobody read.
//
//   producer   {tile begins, block, asks for Q, has asked}
//              {asks for K, has asked, asks for V, has asked} for each key tile, K one row ahead of its V
//   consumers  {tile begins, block, 0, asks for the first S}
//              {S is there, O has the tile before, softmax is done, asks for the next S} for each key tile; the first one
//              has no tile before, the last one asks for the last product with V instead
//              {store begins, store ends, 0, 0}
//   without OVERLAP  {S is there, O has this tile, softmax is done, asks for the next S}; of the last one nothing is next
//   flash3-fp8, whose product with V comes before the next scores
//              producer   {asks for K, has asked, asks for V, has asked} for each key tile, both of one tile
//              consumers  {S is there, softmax is done, asks for PV, O has it} for each key tile
// A warpgroup whose rows see no key of a tile has the last row alone. Two anchors of the GPU's global timer for each
// warpgroup, at the begin and the end of its block, turn cycles into nanoseconds.
#pragma once
#include "flash3_layout.cuh"
#if CLOCKS
#ifndef BEFORE_BARRIERS  // bytes of tiles: flash3-fp8 has others
#define BEFORE_BARRIERS (Q_STAGES * Q_BYTES + 2 * STAGES * K_BYTES)
#endif
#include "warpgroup_clocks.cuh"
#include "wgmma.cuh"

struct StageClocks : WarpgroupClocks {
    static constexpr u32 BYTES = 48, NEXT = 16, FIRST = 24, TILE = 32;
    // Of the warpgroup whose first thread asks: four clocks, where the next row goes, where rows begin, bytes of a tile's.
    static __device__ __forceinline__ u32 place(u32 thread) {
        return shared_tiles() + BEFORE_BARRIERS + 64 + 32 * STAGES + thread / 128 * BYTES;
    }
    static __device__ __forceinline__ u32 place() { return place(threadIdx.x); }
    static __device__ __forceinline__ void begin_block(const ClockRecording& to) {
        if (thread_again() % 128 != 0) return;
        begin_anchors(to, blockIdx.x * (GROUPS + 1) + threadIdx.x / 128);
        put(place() + FIRST, reinterpret_cast<u64>(to.rows + threadIdx.x / 128 * to.most_rows));
        put(place() + TILE, u32((GROUPS + 1) * to.most_rows * sizeof(uint4)));
        store_zeros(place());
    }
    static __device__ __forceinline__ void begin_tile(int tile) {
        if (!reads()) return;
        put(place() + NEXT, get_address(place() + FIRST) + tile * get(place() + TILE));
        put(place(), clock_now());
        put(place() + 4, blockIdx.x);
    }
    static __device__ __forceinline__ void mark(int which) { mark_at(reads(), place() + 4 * which); }
    // flash3-fp8 has no register to keep what the thread is, and so its place.
    static __device__ __forceinline__ void mark_again(int which) {
        const u32 thread = thread_again();
        mark_at(thread % 128 == 0, place(thread) + 4 * which);
    }
    // The compiler carries nothing across a clock. Its wait for PV comes when the first row has its maximum, far ahead of
    // where the source has it, so that this clock must be read there.
    static __device__ __forceinline__ void mark_pv(int row) {
        if (row > 0) return;
        mark(1);
        wgmma_wait<0>();
        mark(1);
    }
    static __device__ __forceinline__ void write_row(u32 thread) {
        const u32 here = place(thread);
        if (thread % 128 != 0) return;
        const u64 row = get_address(here + NEXT);
        if (writes_clocks()) *reinterpret_cast<uint4*>(row) = get_four(here);
        store_zeros(here);
        put(here + NEXT, row + 16);
    }
    static __device__ __forceinline__ void end_block(const ClockRecording& to) {
        if (thread_again() % 128 == 0) end_anchors(to, blockIdx.x * (GROUPS + 1) + threadIdx.x / 128);
    }
};

// Of the launch that merges parts of keys: the GPU's global timer when a block begins, when all parts are there and when its
// first row is stored, by the thread that stores that; and the SM. It is over within some ticks of a clock of its own.
__device__ __forceinline__ void merge_clock(u64* times, int which) {
    if (threadIdx.x != 0) return;
    times[blockIdx.x * 4 + which] = global_timer_now();
    if (which == 0) times[blockIdx.x * 4 + 3] = multiprocessor();
}
#define MERGE_CLOCKS_GIVEN , u64* merge_times
#define MERGE_CLOCK(which) merge_clock(merge_times, which);
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording);
#define CLOCKS_OF_TILE(tile) StageClocks::begin_tile(tile);
#define CLOCK(which) StageClocks::mark(which);
#define CLOCK_AGAIN(which) StageClocks::mark_again(which);
#define CLOCK_OF_PV(row) StageClocks::mark_pv(row);
#define CLOCKS_WRITE() StageClocks::write_row(StageClocks::thread_again());
#define CLOCKS_WRITE_LOADS() StageClocks::write_row(threadIdx.x);
#define CLOCKS_END() StageClocks::end_block(clock_recording);
#else
#define MERGE_CLOCKS_GIVEN
#define MERGE_CLOCK(which)
#define CLOCKS_GIVEN
#define CLOCKS_BEGIN()
#define CLOCKS_OF_TILE(tile)
#define CLOCK(which)
#define CLOCK_AGAIN(which)
#define CLOCK_OF_PV(row)
#define CLOCKS_WRITE()
#define CLOCKS_WRITE_LOADS()
#define CLOCKS_END()
#endif
