// When each warpgroup of flash3's backward pass did what, as flash3_clocks.cuh has it of the forward pass. Only with
// -DCLOCKS=1: in the kernel that is timed every mark below is nothing.
//
// Clocks wait in shared memory behind the barriers, 80 bytes a warpgroup, and go out 48 bytes a row. Of each tile of keys a
// warpgroup has a row and one more for each of its steps, consumers two for the end, or one where there was no step. 0 is a
// clock that nobody read.
//
//   all        {tile begins, block}, which is the first row
//   producer   {asks for K, has asked, asks for Q, has asked, asks for V, has asked, asks for dO, has asked} for each step,
//              K and V in the first one alone
//   consumers  {asks for S, S is there, P is done, dP is there, dS is stored, asks for dQ, dV and dK}, and of the step
//              before {dQ is there, added to memory, dV is there, dK is there, DETERMINISTIC: may add} for each step
//              {0, 0, 0, 0, 0, 0} and of the last step the same
//              {asks for the last dQ, it is there, it is added, stores begin, stores end}
#pragma once
#include "flash3_backward_layout.cuh"
#if CLOCKS
#include "warpgroup_clocks.cuh"

struct StageClocks : WarpgroupClocks {
    static constexpr u32 BYTES = 80, NEXT = 48, FIRST = 56, TILE = 64, HEAD = 68, ROW = 48;
    static constexpr u32 BEHIND = 192;  // the barriers, with those of turns or zeros
    // Of a warpgroup: the clocks of a row, where the next one goes, where rows begin, bytes of a tile's and of a head's.
    static __device__ __forceinline__ u32 place(u32 thread) {
        return Shared(shared_tiles()).barriers + BEHIND + thread / 128 * BYTES;
    }
    static __device__ __forceinline__ u32 place() { return place(threadIdx.x); }
    static __device__ __forceinline__ void begin_block(const ClockRecording& to, int seqlen_k) {
        if (thread_again() % 128 != 0) return;
        begin_anchors(to);
        const u32 tile = (GROUPS + 1) * to.most_rows * ROW;
        put(place() + FIRST, reinterpret_cast<u64>(to.rows) + threadIdx.x / 128 * to.most_rows * ROW);
        put(place() + TILE, tile);
        put(place() + HEAD, (seqlen_k + BLOCK_K - 1) / BLOCK_K * tile);
    }
    static __device__ __forceinline__ void begin_tile(const Keys& keys) {
        const u32 thread = thread_again(), here = place(thread);
        if (thread % 128 != 0) return;
        const u64 row = get_address(here + FIRST) + u64(keys.head) * get(here + HEAD) + keys.k0 / BLOCK_K * get(here + TILE);
        *reinterpret_cast<uint4*>(row) = make_uint4(clock_now(), blockIdx.x, 0, 0);
        put(here + NEXT, row + ROW);
        for (u32 i = 0; i < ROW; i += 16) store_zeros(here + i);
    }
    static __device__ __forceinline__ void mark(int which) { mark_at(place() + 4 * which); }
    static __device__ __forceinline__ void write_row() {
        const u32 thread = thread_again(), here = place(thread);
        if (thread % 128 != 0) return;
        const u64 row = get_address(here + NEXT);
#pragma unroll
        for (u32 i = 0; i < ROW; i += 16) *reinterpret_cast<uint4*>(row + i) = get_four(here + i);
        put(here + NEXT, row + ROW);
    }
};
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording, seqlen_k);
#define CLOCKS_OF_TILE(keys) StageClocks::begin_tile(keys);
#define CLOCK(which) StageClocks::mark(which);
#define CLOCKS_WRITE() StageClocks::write_row();
#define CLOCKS_END() StageClocks::end_block(clock_recording);
#else
#define CLOCKS_GIVEN
#define CLOCKS_BEGIN()
#define CLOCKS_OF_TILE(keys)
#define CLOCK(which)
#define CLOCKS_WRITE()
#define CLOCKS_END()
#endif
