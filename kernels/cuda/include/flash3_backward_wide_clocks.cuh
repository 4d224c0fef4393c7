// When each warpgroup of flash3's backward pass for wide heads did what, as flash3_backward_clocks.cuh has it of narrower
// ones, by flash3_backward_marks.cuh.
//
// Of its tile of keys each of a block's two warpgroups has a row for each step, and one for the end.
//
//   first:  {asks for S, S is there, P is stored, asks for dV and for dQ of the step before, dV is there, dQ is there,
//            DETERMINISTIC: may add, it is added}
//   second: {asks for dP, dP is there, P is there, dS is stored, asks for dK and dQ, dK is there, dQ is there, DETERMINISTIC:
//            may add, it is added}
//   and behind these, of either, at 12 {asks for the step's Q or dO, has asked}, of its first step also {K or V likewise}
//   the end: first: dQ of the last step where its steps have it; both: at 9 {block, stores begin, they end}
//
// The two threads that load leave their clocks beside the barriers of what they load. A warpgroup takes them from there
// when that has come: before both of them have released it, nothing else is loaded.
#pragma once
#include "flash3_backward_wide_layout.cuh"
#include "flash3_backward_marks.cuh"
#if CLOCKS
struct StageClocks : KeyTileClocks<WideShared, 96> {
    static constexpr u32 ROWS = ROW;  // behind a row's clocks, where it goes
    static constexpr int LOADS = 12, BLOCK = 9;
    static __device__ __forceinline__ void begin_block(const ClockRecording& to) {
        const u32 thread = thread_again();
        if (!begin_anchored(to, thread)) return;
        for (u32 i = 0; i < ROW; i += 16) store_zeros(place(thread) + i);
    }
    // `seqlen_k`: how many tiles of keys a head has says where its rows are.
    static __device__ __forceinline__ void begin_tile(const ClockRecording& to, const Keys& keys, int rank, int seqlen_k) {
        const u32 thread = thread_again();
        if (thread % 128 != 0) return;
        const u64 tile = u64(keys.head) * tiles_of(seqlen_k) + keys.k0 / BLOCK_K;
        const u64 lane = (tile * PAIR + rank) * GROUPS + (thread / 128 - 1);
        put(place(thread) + ROWS, reinterpret_cast<u64>(to.rows) + lane * to.most_rows * ROW);
    }
    // Two clocks of what has come, of `full` and of what came last with it.
    static __device__ __forceinline__ void take_loads(int which, u32 full, u32 last_full) {
        const u32 thread = thread_again();
        if (thread % 128 != 0) return;
        put(place(thread) + 4 * which, get(full + BESIDE));
        put(place(thread) + 4 * which + 4, get(last_full + BESIDE + 4));
    }
    // A clock by each of the first lanes: all of them by one took a twelfth of a step.
    static __device__ __forceinline__ void write_row(int row) {
        const u32 thread = thread_again(), lane = thread % 128, here = place(thread);
        __syncwarp();
        if (lane < ROW / 4) {
            if (writes_clocks()) *reinterpret_cast<u32*>(get_address(here + ROWS) + row * ROW + 4 * lane) = get(here + 4 * lane);
            put(here + 4 * lane, 0u);
        }
        __syncwarp();
    }
    static __device__ __forceinline__ void end_block(const ClockRecording& to, int steps) {
        const u32 thread = thread_again();
        if (thread % 128 == 0) put(place(thread) + 4 * BLOCK, u32(blockIdx.x));
        write_row(steps);
        if (thread % 128 == 0) end_anchors(to, anchors_of(thread));
    }
};
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording);
#define CLOCKS_OF_TILE(keys) StageClocks::begin_tile(clock_recording, keys, rank, seqlen_k);
#define CLOCKS_OF_LOADED(which, full, last_full) StageClocks::take_loads(which, full, last_full);
#define CLOCKS_END(steps) StageClocks::end_block(clock_recording, steps);
#else
#define CLOCKS_BEGIN()
#define CLOCKS_OF_TILE(keys)
#define CLOCKS_OF_LOADED(which, full, last_full)
#define CLOCKS_END(steps)
#endif
