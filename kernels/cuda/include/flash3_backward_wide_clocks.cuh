// When each warpgroup of flash3's backward pass for wide heads did what, as flash3_backward_clocks.cuh has it of narrower
// ones. Only with -DCLOCKS=1: in the kernel that is timed every mark below is nothing.
//
// Clocks wait in shared memory behind the barriers, and go out a row at a time. Of its tile of keys each of a block's two
// warpgroups has a row for each step, and one for the end. 0 is a clock that nobody read.
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
#if CLOCKS
#include "warpgroup_clocks.cuh"

struct StageClocks : WarpgroupClocks {
    static constexpr u32 ROW = 64, ROWS = ROW, BYTES = 80;  // bytes of a row; of a warpgroup, with its row's address
    static constexpr int LOADS = 12, BLOCK = 9;
    // The barriers with those of turns; the warpgroups; and so far from each barrier two clocks of what it is of.
    static constexpr u32 BEHIND = 192, BESIDE = BEHIND + GROUPS * BYTES, BARRIERS = 96;

    static __device__ __forceinline__ u32 barriers() { return WideShared(shared_tiles()).barriers; }
    static __device__ __forceinline__ u32 place(u32 thread) { return barriers() + BEHIND + (thread / 128 - 1) * BYTES; }
    static __device__ __forceinline__ void begin_block(const ClockRecording& to) {
        const u32 thread = thread_again();
        if (thread % 128 != 0) return;
        if (thread == 0) {
            for (u32 i = 0; i < BARRIERS; i += 16) store_zeros(barriers() + BESIDE + i);
            return;
        }
        begin_anchors(to, (thread / 128 - 1) + blockIdx.x * GROUPS);
        for (u32 i = 0; i < ROW; i += 16) store_zeros(place(thread) + i);
    }
    // `seqlen_k`: how many tiles of keys a head has says where its rows are.
    static __device__ __forceinline__ void begin_tile(const ClockRecording& to, const Keys& keys, int rank, int seqlen_k) {
        const u32 thread = thread_again();
        if (thread % 128 != 0) return;
        const u64 tile = u64(keys.head) * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + keys.k0 / BLOCK_K;
        const u64 lane = (tile * PAIR + rank) * GROUPS + (thread / 128 - 1);
        put(place(thread) + ROWS, reinterpret_cast<u64>(to.rows) + lane * to.most_rows * ROW);
    }
    // What the thread is, and so its place, is asked for each time: kept, it would spill.
    static __device__ __forceinline__ void mark(int which) {
        const u32 thread = thread_again();
        mark_at(thread % 128 == 0, place(thread) + 4 * which);
    }
    // By the one thread that loads.
    static __device__ __forceinline__ void mark_load(u32 full, int which) { put(full + BESIDE + 4 * which, clock_now()); }
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
            *reinterpret_cast<u32*>(get_address(here + ROWS) + row * ROW + 4 * lane) = get(here + 4 * lane);
            put(here + 4 * lane, 0u);
        }
        __syncwarp();
    }
    static __device__ __forceinline__ void end_block(const ClockRecording& to, int steps) {
        const u32 thread = thread_again();
        if (thread % 128 == 0) put(place(thread) + 4 * BLOCK, u32(blockIdx.x));
        write_row(steps);
        if (thread % 128 == 0) end_anchors(to, (thread / 128 - 1) + blockIdx.x * GROUPS);
    }
};
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording);
#define CLOCKS_OF_TILE(keys) StageClocks::begin_tile(clock_recording, keys, rank, seqlen_k);
#define CLOCK(which) StageClocks::mark(which);
#define CLOCK_OF_LOAD(full, which) StageClocks::mark_load(full, which);
#define CLOCKS_OF_LOADED(which, full, last_full) StageClocks::take_loads(which, full, last_full);
#define CLOCKS_WRITE(row) StageClocks::write_row(row);
#define CLOCKS_END(steps) StageClocks::end_block(clock_recording, steps);
#else
#define CLOCKS_GIVEN
#define CLOCKS_BEGIN()
#define CLOCKS_OF_TILE(keys)
#define CLOCK(which)
#define CLOCK_OF_LOAD(full, which)
#define CLOCKS_OF_LOADED(which, full, last_full)
#define CLOCKS_WRITE(row)
#define CLOCKS_END(steps)
#endif
