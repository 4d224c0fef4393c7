// When each warp of flash1 did what, as clocks.cuh has it of flash2. Only with -DCLOCKS=1: in the kernel that is timed every
// mark below is nothing.
//
// A block passes all tiles of queries by all tiles of keys, and a step has one stage more, the store of O: 32 bytes a warp
// behind the tiles, and as many of each step in memory. The number of the step stands there, too.
//
//   {the wait begins, QK^T, the softmax, PV, the store of O, 0, 0, step}
#pragma once
#if CLOCKS
#include "async_copy.cuh"
#include "clocks.cuh"

struct PassClocks : StageClocks {
    static constexpr int NUMBERS = 8, STAGES = 5, STEP = 7;
    unsigned char* const place;  // behind the tiles

    explicit __device__ __forceinline__ PassClocks(unsigned char* place) : place(place) {
        if (threadIdx.x % 32 != 0) return;
        for (int i = STAGES; i < NUMBERS; ++i) here()[i] = 0;
    }
    // No branch: it would keep apart what the compiler mixes in the kernel that is timed, and which is short of registers.
    __device__ __forceinline__ void mark_stage(int stage) const {
        asm volatile(
            "{ .reg .pred p; .reg .b32 now; setp.eq.u32 p, %0, 0; mov.u32 now, %%clock; @p st.shared.b32 [%1], now; }" ::
                "r"(threadIdx.x % 32), "r"(shared_address(place) + threadIdx.x + 4 * stage)
            : "memory");
    }
    __device__ __forceinline__ void write_step(const ClockRecording& to) const {
        if (threadIdx.x % 32 != 0) return;
        const uint4* const clocks = reinterpret_cast<const uint4*>(place + threadIdx.x);
        uint4* const row = to.steps + ((long long)clocked_warp() * to.most_steps + here()[STEP]) * 2;
        row[0] = clocks[0];
        row[1] = clocks[1];
        here()[STEP] = here()[STEP] + 1;
    }

  private:
    __device__ __forceinline__ volatile unsigned* here() const {
        return reinterpret_cast<volatile unsigned*>(place + threadIdx.x);  // of its warp, in its first lane
    }
};
#define CLOCKS_GIVEN , const __grid_constant__ ClockRecording clock_recording
#define CLOCKS_BEGIN(place) StageClocks::begin_block(clock_recording); const PassClocks clocks(place);
#define CLOCK(stage) clocks.mark_stage(stage);
#define CLOCKS_WRITE() clocks.write_step(clock_recording);
#define CLOCKS_END() StageClocks::begin_store(clock_recording); StageClocks::end_block(clock_recording);
#else
#define CLOCKS_GIVEN
#define CLOCKS_BEGIN(place)
#define CLOCK(stage)
#define CLOCKS_WRITE()
#define CLOCKS_END()
#endif
