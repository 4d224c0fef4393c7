// When each warp of a kernel did what: read from the SM's own clock between the stages. Only included with -DCLOCKS=1: the
// kernels that are timed have none of it. Two anchors of the GPU's global timer for each warp, at the begin and the end of its
// block, turn cycles into nanoseconds.
#pragma once
#include "sm_clock.cuh"

struct ClockRecording {
    uint4* steps;              // (blocks * WARPS, most_steps): the clocks of a step, as each kernel's header has them
    unsigned long long* ends;  // (blocks * WARPS, 4): global timer at begin and end; 32 bits clock at begin, end, store; SM
    int most_steps;
};

struct StageClocks {
    static __device__ __forceinline__ void begin_block(const ClockRecording& to) {
        if (threadIdx.x % 32 != 0) return;
        unsigned long long* const anchors = to.ends + (long long)clocked_warp() * 4;
        anchors[0] = global_timer_now();
        reinterpret_cast<unsigned*>(anchors)[4] = clock_now();
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
