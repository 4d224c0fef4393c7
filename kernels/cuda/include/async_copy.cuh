// Copies from HBM to shared memory that run beside the arithmetic (sm_80 and newer; on older GPUs the same calls
// copy at once, which is as right and only slower).
#pragma once

__device__ __forceinline__ unsigned shared_address(const void* p) { return unsigned(__cvta_generic_to_shared(p)); }

// 16 bytes; zeros if not `inside`, and then `source` is not read.
__device__ __forceinline__ void copy_chunk(unsigned target, const void* source, bool inside) {
#if __CUDA_ARCH__ >= 800
    const int bytes = inside ? 16 : 0;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(target), "l"(source), "r"(bytes) : "memory");
#else
    const uint4 x = inside ? *static_cast<const uint4*>(source) : make_uint4(0, 0, 0, 0);
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(target), "r"(x.x), "r"(x.y), "r"(x.z), "r"(x.w)
                 : "memory");
#endif
}

// Closes a group of copies. A step of a pipeline may close an empty one: waiting counts groups.
__device__ __forceinline__ void commit_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Until no more than PENDING of this thread's groups are under way. A barrier must follow before others' are read.
template <int PENDING>
__device__ __forceinline__ void wait_copies() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
#endif
}
