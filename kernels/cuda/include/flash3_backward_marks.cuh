// What the builds of flash3's backward passes with clocks share. Only with -DCLOCKS=1: in the kernels that are timed every mark
// is nothing.
//
// Clocks wait in shared memory behind the barriers, and go out a row at a time: of each warpgroup that computes its own, with
// what it knows of its rows, and behind all of these two clocks beside each barrier, so far from it, of what it is of. 0 is a
// clock that nobody read. What a thread is, and so its place, is asked for each time: kept, it would spill.
#pragma once
#if CLOCKS
#include "warpgroup_clocks.cuh"

// `Places`: where a kernel's barriers are in shared memory, and in how many bytes what is loaded has some.
template <class Places, u32 BARRIERS>
struct KeyTileClocks : WarpgroupClocks {
    static constexpr u32 BYTES = 80, ROW = 64;  // of a warpgroup that computes; of a row in memory
    static constexpr u32 BEHIND = 192;          // the barriers, with those of turns or zeros
    static constexpr u32 BESIDE = BEHIND + GROUPS * BYTES;

    static __device__ __forceinline__ u32 barriers() { return Places(shared_tiles()).barriers; }
    static __device__ __forceinline__ u32 place(u32 thread) { return barriers() + BEHIND + (thread / 128 - 1) * BYTES; }
    static __device__ __forceinline__ void mark(int which) {
        const u32 thread = thread_again();
        mark_at(thread % 128 == 0, place(thread) + 4 * which);
    }
    // By the one thread that loads.
    static __device__ __forceinline__ void mark_load(u32 full, int which) { put(full + BESIDE + 4 * which, clock_now()); }
    static __device__ __forceinline__ int tiles_of(int seqlen_k) { return (seqlen_k + BLOCK_K - 1) / BLOCK_K; }
    static __device__ __forceinline__ int anchors_of(u32 thread) { return (thread / 128 - 1) + blockIdx.x * GROUPS; }
    // Whether the thread reads clocks of a warpgroup that computes, which has its anchors then.
    static __device__ __forceinline__ bool begin_anchored(const ClockRecording& to, u32 thread) {
        if (thread % 128 != 0) return false;
        if (thread == 0) {
            for (u32 i = 0; i < BARRIERS; i += 16) store_zeros(barriers() + BESIDE + i);
            return false;
        }
        begin_anchors(to, anchors_of(thread));
        return true;
    }
};
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCK(which) StageClocks::mark(which);
#define CLOCK_OF_LOAD(full, which) StageClocks::mark_load(full, which);
#define CLOCKS_WRITE(row) StageClocks::write_row(row);
#else
#define CLOCKS_GIVEN
#define CLOCK(which)
#define CLOCK_OF_LOAD(full, which)
#define CLOCKS_WRITE(row)
#endif
