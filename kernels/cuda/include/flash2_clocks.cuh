// When each warp of flash2 did what. Only with -DCLOCKS=1: in the kernel that is timed every mark below is nothing.
//
// {the wait begins, QK^T, the softmax, PV} for each step; a stage ends where the next one begins.
//
// Nothing lies in shared memory, and no step ends with a store: lane 4 n + c of a warp keeps clock c of step n of eight in one
// register, and the lanes write eight steps out together, at the next wait.
// The compiler carries nothing across a clock. PV begins where its first operand is there, the first 16 columns of P: behind
// all of P its clock would keep the other exponentials from running among the products with V, as they do where it is timed.
#pragma once
#if CLOCKS
#include "lane_clocks.cuh"
#include "softmax.cuh"

struct ForwardClocks : LaneClocks {
    static constexpr int OF_STEP = 4, STEPS = 32 / OF_STEP;  // the steps that are written out together
    __device__ __forceinline__ void mark_stage(int stage, int step) { mark(step % STEPS * OF_STEP + stage); }
    // The steps before this one, where they fill the lanes.
    __device__ __forceinline__ void write_full(const ClockRecording& to, int step) const {
        if (step % STEPS == 0 && step > 0) write(to, step - STEPS, STEPS);
    }
    // Those that are left of all.
    __device__ __forceinline__ void write_rest(const ClockRecording& to, int steps) const {
        if (steps == 0) return;
        const int first = (steps - 1) / STEPS * STEPS;
        write(to, first, steps - first);
    }

  private:
    __device__ __forceinline__ void write(const ClockRecording& to, int first, int count) const {
        const int lane = threadIdx.x % 32;
        if (lane >= OF_STEP * count || !writes_clocks()) return;
        uint4* const row = to.steps + ((long long)clocked_warp() * to.most_steps + first);
        reinterpret_cast<unsigned*>(row)[lane] = kept;
    }
};

constexpr int BEFORE_PV = 2;  // of P, in units of 8 columns: what its first product takes
// That much of P, and this lane's part of its sums.
template <int MT, int COLUMNS>
__device__ __forceinline__ void begin_exponentials(float (&s)[MT][COLUMNS][4], float factor, const float (&m)[MT][2],
                                                   float (&sums)[MT][2]) {
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) sums[i][r] = exponentiate(s[i], r, factor, m[i][r], 0.0f, 0, BEFORE_PV);
    }
}
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_BEGIN() StageClocks::begin_block(clock_recording); ForwardClocks clocks;
#define CLOCKS_WRITE() clocks.write_full(clock_recording, step);
#define CLOCK(stage) clocks.mark_stage(stage, step);
// Between the two parts of the exponentials; the second one goes on behind the sums of the first.
#define CLOCK_OF_PV(stage) float begun[SUBTILES][2]; begin_exponentials(s, factor, m, begun); CLOCK(stage)
#define BEHIND_BEGUN(i, r) , begun[i][r], BEFORE_PV
#define CLOCKS_STORE() clocks.write_rest(clock_recording, steps); StageClocks::begin_store(clock_recording);
#define CLOCKS_END() StageClocks::end_block(clock_recording);
#else
#define CLOCKS_GIVEN
#define CLOCKS_BEGIN()
#define CLOCKS_WRITE()
#define CLOCK(stage)
#define CLOCK_OF_PV(stage)
#define BEHIND_BEGUN(i, r)
#define CLOCKS_STORE()
#define CLOCKS_END()
#endif
