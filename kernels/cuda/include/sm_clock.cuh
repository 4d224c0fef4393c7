// What builds with clocks read: the SM's own clock, the GPU's global timer, and which SM it is.
#pragma once

__device__ __forceinline__ unsigned clock_now() {
    unsigned now;
    asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
    return now;
}

__device__ __forceinline__ unsigned long long global_timer_now() {
    unsigned long long now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__device__ __forceinline__ unsigned multiprocessor() {
    unsigned id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}
