// A launch in slow motion: after each tile (i, j) a thread says so in memory of the host, which reads it while the kernel
// runs, and then waits until a tile's share of the time has passed. Only with -DLIVE=1: in the kernels that are timed every
// mark below is nothing. Who waits only comes later to the barriers that are there anyway, so that the order of tiles, and
// what runs side by side, are the kernel's own. Every wait ends by itself, and at once where the host asks for the end.
#pragma once
#if LIVE
#include "sm_clock.cuh"

struct Recording {
    volatile unsigned long long* told;  // (slots, reporters), the host's: ns since the begin << 16 | SM + 1; 0: not yet
    const volatile int* stop;           // (1), the host's: wait no more
    unsigned long long* due;            // (blocks * warps): when a warp's last tile had used up its time; 0: it had none
    unsigned long long* begun;          // (1): when the first block began
    unsigned long long tile_ns;         // that a tile takes
};

struct SlowMotion {
    static constexpr unsigned LONGEST_NAP_NS = 500000;  // between two looks at `stop`
    static __device__ __forceinline__ unsigned long long* due(const Recording& to) {
        return to.due + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    }
    // By the threads that wait, before their first tile; once more does nothing.
    static __device__ __forceinline__ void begin(const Recording& to) {
        if (*due(to)) return;
        const unsigned long long now = global_timer_now();
        *due(to) = now;
        atomicCAS(to.begun, 0ull, now);
    }
    // `place`: of the tile, and of who says it, in `told`. The timer of one SM may tick after that of another one.
    static __device__ __forceinline__ void tell(const Recording& to, int place) {
        const long long since = global_timer_now() - *(volatile unsigned long long*)to.begun;
        to.told[place] = (unsigned long long)(since > 0 ? since : 0) << 16 | (multiprocessor() + 1);
    }
    static __device__ __forceinline__ void wait(const Recording& to) {
        unsigned long long now = global_timer_now(), until = *due(to) + to.tile_ns;
        if (until < now) until = now;
        *due(to) = until;
        while (!*to.stop && now < until) {
            const unsigned long long half = (until - now) / 2;  // a nap may last twice as long as it should
            __nanosleep(half < LONGEST_NAP_NS ? unsigned(half) : LONGEST_NAP_NS);
            now = global_timer_now();
        }
    }
    // All threads of the block come together.
    static __device__ __forceinline__ void tile_of_block(const Recording& to, int slot) {
        __syncthreads();
        if (threadIdx.x == 0) {
            tell(to, slot);
            wait(to);
        }
        __syncthreads();
    }
};
#define LIVE_GIVEN , const __grid_constant__ Recording recording
#define LIVE_BEGIN() if (threadIdx.x == 0) SlowMotion::begin(recording);
#define LIVE_TILE(slot) SlowMotion::tile_of_block(recording, slot);
#else
#define LIVE_GIVEN
#define LIVE_BEGIN()
#define LIVE_TILE(slot)
#endif
