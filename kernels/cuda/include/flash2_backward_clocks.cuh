// When each warp of flash2's backward pass did what. Only with -DCLOCKS=1: in the kernel that is timed every mark below is
// nothing.
//
// Shared memory has no room, two blocks an SM take all of it: lane n of a warp keeps clock n of a step in one register, the
// last one the number of the step, and the lanes write them out together when it ends. 0 is a clock that nobody read.
//
//   {step begins, its Q and dO are there, twice {dP, S, P, dV, dS, dK end}, all dS is there, dV and dK of the others' weights
//    end, dQ ends, it is added}
// A stage ends where the next one's first operands are there: behind the first loads of a product, and behind the first 16
// queries of P and dS. The compiler carries nothing across a clock; one between two stages would keep it from mixing the end
// of one with the begin of the next, as it does in the kernel that is timed.
// The warp's own queries are taken at once or in two halves, these in a loop: unrolled as in the timed kernel, marks between
// their stages would spill.
#pragma once
#include "flash2_backward_layout.cuh"
#if CLOCKS
#define UNROLL_HALVES _Pragma("unroll 1")
#include "lane_clocks.cuh"

struct StepClocks : LaneClocks {
    static constexpr int LANES = 20, OWN = 2, OF_HALF = 6, SHARED = OWN + 2 * OF_HALF;
    static_assert(SHARE / AT_ONCE <= 2, "there are clocks of two halves");
    __device__ __forceinline__ void write(const ClockRecording& to) {
        const long long row = (long long)clocked_warp() * to.most_steps + __shfl_sync(~0u, kept, 31);
        if (threadIdx.x % 32 < LANES && writes_clocks()) {
            reinterpret_cast<unsigned*>(to.steps)[row * LANES + threadIdx.x % 32] = kept;
        }
        if (threadIdx.x % 32 == 31) ++kept;
    }
};
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_TAKEN , StepClocks& clocks
#define CLOCKS_PASSED , clocks
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording); StepClocks clocks;
#define CLOCK(which) clocks.mark(which);
#define CLOCK_OF_OWN(half, which) clocks.mark(StepClocks::OWN + (half) * StepClocks::OF_HALF + which);
#define CLOCK_OF_ALL(which) clocks.mark(StepClocks::SHARED + which);
// The same as an argument of a product, which reads the clock behind its first loads.
#define CLOCK_OF_OWN_BEGUN(half, which) , [&]() __attribute__((always_inline)) { CLOCK_OF_OWN(half, which) }
#define CLOCK_OF_ALL_BEGUN(which) , [&]() __attribute__((always_inline)) { CLOCK_OF_ALL(which) }
#define CLOCKS_WRITE() clocks.write(clock_recording);
#define CLOCKS_STORE() StageClocks::begin_store(clock_recording);
#define CLOCKS_END() StageClocks::end_block(clock_recording);
constexpr int BEFORE_DS = 2;  // what of dS is there when dV ends, in units of 8 queries
#else
#define UNROLL_HALVES _Pragma("unroll")
#define CLOCKS_GIVEN
#define CLOCKS_TAKEN
#define CLOCKS_PASSED
#define CLOCKS_BEGIN()
#define CLOCK(which)
#define CLOCK_OF_OWN(half, which)
#define CLOCK_OF_ALL(which)
#define CLOCK_OF_OWN_BEGUN(half, which)
#define CLOCK_OF_ALL_BEGUN(which)
#define CLOCKS_WRITE()
#define CLOCKS_STORE()
#define CLOCKS_END()
constexpr int BEFORE_DS = AT_ONCE / 8;
#endif
