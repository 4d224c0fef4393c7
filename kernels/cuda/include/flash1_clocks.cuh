// When each warp of flash1 did what, as clocks.cuh has it of flash2. Only with -DCLOCKS=1: in the kernels that are timed
// every mark below is nothing.
//
// A block passes all tiles of queries by all tiles of keys. Its clocks of a step wait behind the tiles in shared memory, and
// as many numbers go out for each step. The number of the step stands there, too, as the last one.
//
// Forward, {the wait begins, QK^T, the softmax, PV, the store of O, 0, 0, step} for each step.
//
// Backward, of each tile of keys
//   {step begins, its Q and dO are there, the next ones are asked for and their delta is taken, S, dP, P, dV, dS and dK end,
//    dS is in shared memory, all of it is there, dQ ends, it is added, 0, 0, row} for each step
//   {stores begin, they end, what the step before left, row}
#pragma once
#if CLOCKS
#include "async_copy.cuh"
#include "clocks.cuh"

template <int NUMBERS>
struct PassClocks : StageClocks {
    static constexpr int STEP = NUMBERS - 1, BYTES = 4 * NUMBERS;  // of a warp
    unsigned char* const place;                                    // behind the tiles

    explicit __device__ __forceinline__ PassClocks(unsigned char* place) : place(place) {
        if (threadIdx.x % 32 != 0) return;
        for (int i = 0; i < NUMBERS; ++i) here()[i] = 0;
    }
    // No branch: it would keep apart what the compiler mixes in the kernel that is timed, and which is short of registers.
    __device__ __forceinline__ void mark_stage(int stage) const {
        asm volatile(
            "{ .reg .pred p; .reg .b32 now; setp.eq.u32 p, %0, 0; mov.u32 now, %%clock; @p st.shared.b32 [%1], now; }" ::
                "r"(threadIdx.x % 32), "r"(shared_address(place) + threadIdx.x * (BYTES / 32) + 4 * stage)
            : "memory");
    }
    __device__ __forceinline__ void write_step(const ClockRecording& to) const {
        if (threadIdx.x % 32 != 0) return;
        const uint4* const clocks = reinterpret_cast<const uint4*>(place + threadIdx.x * (BYTES / 32));
        uint4* const row = to.steps + ((long long)clocked_warp() * to.most_steps + here()[STEP]) * (NUMBERS / 4);
        if (writes_clocks()) {
#pragma unroll
            for (int i = 0; i < NUMBERS / 4; ++i) row[i] = clocks[i];
        }
        here()[STEP] = here()[STEP] + 1;
    }

  private:
    __device__ __forceinline__ volatile unsigned* here() const {
        return reinterpret_cast<volatile unsigned*>(place + threadIdx.x * (BYTES / 32));  // of its warp, in its first lane
    }
};
using ForwardClocks = PassClocks<8>;
using BackwardClocks = PassClocks<16>;
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_TAKEN , const ClockRecording& clock_recording, const BackwardClocks& clocks
#define CLOCKS_PASSED , clock_recording, clocks
#define CLOCKS_BEGIN(Of, place) StageClocks::begin_block(clock_recording); const Of clocks(place);
#define CLOCK(stage) clocks.mark_stage(stage);
#define CLOCKS_WRITE() clocks.write_step(clock_recording);
#define CLOCKS_STORE() StageClocks::begin_store(clock_recording);
#define CLOCKS_END() StageClocks::end_block(clock_recording);
#else
#define CLOCKS_GIVEN
#define CLOCKS_TAKEN
#define CLOCKS_PASSED
#define CLOCKS_BEGIN(Of, place)
#define CLOCK(stage)
#define CLOCKS_WRITE()
#define CLOCKS_STORE()
#define CLOCKS_END()
#endif
