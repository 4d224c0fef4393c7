// Copies from HBM to shared memory that run beside the arithmetic (sm_80 and newer; on older GPUs the same calls
// copy at once, which is as right and only slower).
#pragma once
#include "element.cuh"

// 16 bytes, or 16 zero bytes when `inside` is false.
__device__ __forceinline__ void copy_async(void* target, const void* source, bool inside) {
#if __CUDA_ARCH__ >= 800
    const unsigned place = static_cast<unsigned>(__cvta_generic_to_shared(target));
    const int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(source), "r"(bytes) : "memory");
#else
    *static_cast<uint4*>(target) = inside ? *static_cast<const uint4*>(source) : uint4{};
#endif
}

// Ends a group of copies. Every step of a pipeline ends one, an empty one too: waiting counts groups.
__device__ __forceinline__ void end_group() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most NEWEST groups of this thread are under way. A barrier must follow before others' are read.
template <int NEWEST>
__device__ __forceinline__ void wait_for_groups() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(NEWEST) : "memory");
#endif
}
