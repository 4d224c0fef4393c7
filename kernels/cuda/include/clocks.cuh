// When each warp of a kernel did what: read from the SM's own clock between the stages, into shared memory, and written out
// by one lane after a step. Only included with -DCLOCKS=1: the kernels that are timed have none of it. Two anchors of the
// GPU's global timer for each warp, at the begin and the end of its block, turn cycles into nanoseconds.
#pragma once
#include "sm_clock.cuh"

struct ClockRecording {
    uint4* steps;              // (blocks * WARPS, most_steps): clocks when a step's wait, QK^T, softmax and PV began
    unsigned long long* ends;  // (blocks * WARPS, 4): global timer at begin and end; 32 bits clock at begin, end, store; SM
    int most_steps;
};

// Registers are short: no clock stays in one. Those of a step wait in shared memory, 16 bytes a warp behind the tiles, and
// one lane of each warp writes them out together.
struct StageClocks {
    static __device__ __forceinline__ void begin_block(const ClockRecording& to) {
        if (threadIdx.x % 32 != 0) return;
        unsigned long long* const anchors = to.ends + (long long)clocked_warp() * 4;
        anchors[0] = global_timer_now();
        reinterpret_cast<unsigned*>(anchors)[4] = clock_now();
    }
    // A stage of the step begins now: 0 the wait, 1 QK^T, 2 the softmax, 3 PV. `place`: behind the tiles.
    template <int STAGE>
    static __device__ __forceinline__ void mark(unsigned char* place) {
        if (threadIdx.x % 32 == 0) reinterpret_cast<volatile unsigned*>(place + threadIdx.x / 2)[STAGE] = clock_now();
    }
    static __device__ __forceinline__ void write(const ClockRecording& to, const unsigned char* place, int step) {
        if (threadIdx.x % 32 != 0) return;
        to.steps[(long long)clocked_warp() * to.most_steps + step] = *reinterpret_cast<const uint4*>(place + threadIdx.x / 2);
    }
    static __device__ __forceinline__ void begin_store(const ClockRecording& to) {
        if (threadIdx.x % 32 != 0) return;
        reinterpret_cast<unsigned*>(to.ends + (long long)clocked_warp() * 4)[6] = clock_now();
    }
    static __device__ __forceinline__ void end_block(const ClockRecording& to) {
        if (threadIdx.x % 32 != 0) return;
        unsigned long long* const anchors = to.ends + (long long)clocked_warp() * 4;
        reinterpret_cast<unsigned*>(anchors)[5] = clock_now();
        anchors[1] = global_timer_now();
        reinterpret_cast<unsigned*>(anchors)[7] = multiprocessor();
    }
    // Its number among those of all blocks, which the compiler takes for another one each time.
    static __device__ __forceinline__ int clocked_warp() {
        int block = blockIdx.x;
        asm volatile("" : "+r"(block));
        return block * WARPS + threadIdx.x / 32;
    }
};
