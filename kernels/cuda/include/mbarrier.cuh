// Barriers in shared memory that count arrivals and the bytes of TMA copies (PTX ISA, mbarrier), rings of them, and
// the numbered barriers of the SM. One thread waits for a phase: the parity of how often the barrier has completed.
//
// MAX_POLLS > 0 traps after so many polls instead of waiting for ever: for tests, as it costs registers.
#pragma once

using u32 = unsigned;
using u64 = unsigned long long;

#ifndef MAX_POLLS
#define MAX_POLLS 0
#endif

__device__ __forceinline__ void barrier_init(u32 bar, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count));
}
__device__ __forceinline__ void barriers_are_initialised() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ __forceinline__ void expect(u32 bar, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ __forceinline__ void arrive(u32 bar) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ __forceinline__ bool passed(u32 bar, u32 phase) {
    u32 done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(bar), "r"(phase)
                 : "memory");
    return done;
}
__device__ __forceinline__ void wait(u32 bar, u32 phase) {
    if constexpr (MAX_POLLS > 0) {
        for (int polls = 0; !passed(bar, phase); ++polls)
            if (polls == MAX_POLLS) asm volatile("trap;");
    } else {
        while (!passed(bar, phase)) {}
    }
}

// A position in a ring of stages, and the phase its barriers are in. A producer waits for the other phase: the first
// round finds every stage empty.
template <int stages>
struct RingOf {
    int stage = 0;
    u32 phase = 0;
    __device__ __forceinline__ void next() {
        if (stages == 1) phase ^= 1;
        else if (stages == 2) { phase ^= stage; stage ^= 1; }
        else if (++stage == stages) { stage = 0; phase ^= 1; }
    }
};

// Numbered barriers, of which each kernel names its own, between two warpgroups: one waits, the other only announces.
template <typename Barrier>
__device__ __forceinline__ void named_sync(Barrier name) {
    asm volatile("bar.sync %0, 256;" ::"r"(static_cast<int>(name)) : "memory");
}
template <typename Barrier>
__device__ __forceinline__ void named_arrive(Barrier name) {
    asm volatile("bar.arrive %0, 256;" ::"r"(static_cast<int>(name)) : "memory");
}
// All 128 threads of a warpgroup meet.
template <typename Barrier>
__device__ __forceinline__ void group_sync(Barrier name) {
    asm volatile("bar.sync %0, 128;" ::"r"(static_cast<int>(name)) : "memory");
}

// 16 bytes of zeros in shared memory, and what makes a thread's stores there visible to TMA and wgmma.
__device__ __forceinline__ void store_zeros(u32 to) {
    asm volatile("st.shared.v4.b32 [%0], {%1, %1, %1, %1};" ::"r"(to), "r"(0) : "memory");
}
__device__ __forceinline__ void publish_stores() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
