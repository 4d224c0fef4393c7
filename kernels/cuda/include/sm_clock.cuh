// What builds with clocks read: the SM's own clock, the GPU's global timer, and which SM it is.
// With -DCLOCK_SMS=n only the first n SMs write out what lies between the anchors of a block.
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

__device__ __forceinline__ bool writes_clocks() {
#ifdef CLOCK_SMS
    return multiprocessor() < CLOCK_SMS;
#else
    return true;
#endif
}
