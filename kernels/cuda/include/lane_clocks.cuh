// Clocks of a warp that take neither shared memory nor a store each: one register, in which every lane keeps one of them. Only
// included with -DCLOCKS=1.
#pragma once
#include "clocks.cuh"

// Lane n keeps clock n.
struct LaneClocks : StageClocks {
    unsigned kept = 0;
    // One statement: a clock that waits for its lane would take another register.
    __device__ __forceinline__ void mark(unsigned which) {
        asm volatile(
            "{ .reg .pred p; .reg .b32 now; setp.eq.u32 p, %1, %2; mov.u32 now, %%clock; @p mov.b32 %0, now; }"
            : "+r"(kept)
            : "r"(threadIdx.x % 32), "r"(which));
    }
};
