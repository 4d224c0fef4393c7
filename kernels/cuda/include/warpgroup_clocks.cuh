// What builds of warpgroups with clocks share: the first thread of each reads the SM's clock between the stages, and keeps
// in shared memory what has not gone out yet. Only with -DCLOCKS=1.
#pragma once
#include "mbarrier.cuh"
#include "sm_clock.cuh"

// Of the dynamic shared memory what begins at a multiple of 1024; of its linkage, so that the array is the kernel's.
extern "C" __device__ __forceinline__ u32 shared_tiles() {
    extern __shared__ __align__(1024) unsigned char raw[];
    return ((u32)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
}

// What one launch records: rows of clocks of each tile that a block takes, and for each warpgroup of a block two anchors.
struct ClockRecording {
    uint4* rows;  // (tiles, warpgroups, most_rows, what a row has)
    u64* ends;    // (blocks, warpgroups, 4): global timer at begin and end; in 32 bits clock at begin, at end, and SM
    int most_rows;
};

struct WarpgroupClocks {
    // Asked for anew wherever no clock waits for it: what is known of it would take registers meanwhile.
    static __device__ __forceinline__ u32 thread_again() {
        u32 thread;
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        return thread;
    }
    static __device__ __forceinline__ bool reads() { return threadIdx.x % 128 == 0; }
    static __device__ __forceinline__ void put(u32 to, u32 x) {
        asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(x) : "memory");
    }
    static __device__ __forceinline__ void put(u32 to, u64 x) {
        asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(to), "r"(u32(x)), "r"(u32(x >> 32)) : "memory");
    }
    static __device__ __forceinline__ u32 get(u32 from) {
        u32 x;
        asm volatile("ld.shared.b32 %0, [%1];" : "=r"(x) : "r"(from) : "memory");
        return x;
    }
    static __device__ __forceinline__ u64 get_address(u32 from) {
        u32 x, y;
        asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(from) : "memory");
        return u64(y) << 32 | x;
    }
    static __device__ __forceinline__ uint4 get_four(u32 from) {
        uint4 x;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
                     : "r"(from)
                     : "memory");
        return x;
    }
    // No branch: it would keep apart what the compiler mixes in the kernel that is timed.
    static __device__ __forceinline__ void mark_at(bool reads, u32 to) {
        asm volatile(
            "{ .reg .pred p; .reg .b32 now; setp.ne.b32 p, %0, 0; mov.u32 now, %%clock; @p st.shared.b32 [%1], now; }" ::
                "r"(u32(reads)), "r"(to)
            : "memory");
    }
    // `lane`: the warpgroup's number among all that have anchors.
    static __device__ __forceinline__ void begin_anchors(const ClockRecording& to, int lane) {
        u32* const ends = reinterpret_cast<u32*>(to.ends + lane * 4);
        *reinterpret_cast<u64*>(ends) = global_timer_now();
        ends[4] = clock_now();
    }
    static __device__ __forceinline__ void end_anchors(const ClockRecording& to, int lane) {
        u32* const ends = reinterpret_cast<u32*>(to.ends + lane * 4);
        ends[5] = clock_now();
        ends[6] = multiprocessor();
        reinterpret_cast<u64*>(ends)[1] = global_timer_now();
    }
};
