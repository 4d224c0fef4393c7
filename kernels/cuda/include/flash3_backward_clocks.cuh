// When each warpgroup of flash3's backward pass did what, as flash3_clocks.cuh has it of the forward pass, by
// flash3_backward_marks.cuh.
//
// Of each tile of keys a warpgroup that computes has a row and one more for each of its steps, and two for the end, or one
// where there was no step.
//
//   {tile begins, block}, which is the first row
//   {asks for S, S is there, P is done, dP is there, dS is stored, asks for dQ, dV and dK}, and of the step before {dQ is
//    there, added to memory, dV is there, dK is there, DETERMINISTIC: may add, 0} for each step
//   {0, 0, 0, 0, 0, 0} and of the last step the same
//   {asks for the last dQ, it is there, it is added, stores begin, stores end}
//
// The producer's registers are too few for the address of a row. It leaves its clocks {asks for Q, has asked, asks for dO, has
// asked}, and of a tile {asks for K, has asked, asks for V, has asked}, where the first warpgroup that computes finds them: in
// its rows they come behind the step's own, and the tile's behind those of the row after the last step.
#pragma once
#include "flash3_backward_layout.cuh"
#include "flash3_backward_marks.cuh"
#if CLOCKS
struct StageClocks : KeyTileClocks<Shared, 8 * (4 * STAGES + 2 * KEY_STAGES)> {
    // Of a warpgroup that computes: its clocks of a row, where its tile's rows are and where the first tile's, bytes of a tile's
    // and of a head's.
    static constexpr u32 ROWS = 48, FIRST = 56, TILE = 64, HEAD = 68;
    static constexpr u32 OWN = 48, LOADS = ROW - OWN;  // bytes of a row
    static __device__ __forceinline__ void begin_block(const ClockRecording& to, int seqlen_k) {
        const u32 thread = thread_again();
        if (!begin_anchored(to, thread)) return;
        const u32 here = place(thread), tile = GROUPS * to.most_rows * ROW;
        put(here + FIRST, reinterpret_cast<u64>(to.rows) + (thread / 128 - 1) * to.most_rows * ROW);
        put(here + TILE, tile);
        put(here + HEAD, tiles_of(seqlen_k) * tile);
    }
    static __device__ __forceinline__ void begin_tile(const Keys& keys) {
        const u32 thread = thread_again(), here = place(thread);
        if (thread % 128 != 0) return;
        const u64 row = get_address(here + FIRST) + u64(keys.head) * get(here + HEAD) + keys.k0 / BLOCK_K * get(here + TILE);
        if (writes_clocks()) *reinterpret_cast<uint4*>(row) = make_uint4(clock_now(), blockIdx.x, 0, 0);
        put(here + ROWS, row);
        for (u32 i = 0; i < OWN; i += 16) store_zeros(here + i);
    }
    static __device__ __forceinline__ void end_block(const ClockRecording& to) {
        const u32 thread = thread_again();
        if (thread % 128 == 0) end_anchors(to, anchors_of(thread));
    }
    // A clock by each of the first lanes: all of them by one took a twelfth of a step.
    static __device__ __forceinline__ void write_row(int row, u32 full = 0, u32 other_full = 0) {
        const u32 thread = thread_again(), lane = thread % 128, here = place(thread);
        const bool loads = full && thread - (128 + OWN / 4) < LOADS / 4;
        __syncwarp();
        if (lane < OWN / 4 || loads) {
            const u32 from = loads ? (lane < OWN / 4 + 2 ? full : other_full) + BESIDE + lane % 2 * 4 : here + 4 * lane;
            if (writes_clocks()) *reinterpret_cast<u32*>(get_address(here + ROWS) + row * ROW + 4 * lane) = get(from);
            if (loads) put(from, 0u);
        }
        __syncwarp();
    }
};
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording, seqlen_k);
#define CLOCKS_OF_TILE(keys) StageClocks::begin_tile(keys);
#define CLOCKS_WRITE_WITH(row, full, other_full) StageClocks::write_row(row, full, other_full);
#define CLOCKS_END() StageClocks::end_block(clock_recording);
#else
#define CLOCKS_BEGIN()
#define CLOCKS_OF_TILE(keys)
#define CLOCKS_WRITE_WITH(row, full, other_full)
#define CLOCKS_END()
#endif
