// The element type of Q, K, V and O, chosen by -D, and its conversions to the float that sums are kept in.
// Conversions are PTX, not cuda_fp16.h: nothing but the compiler is needed, and a kernel compiles in milliseconds.
#pragma once

#if defined(DTYPE_float32)
using element = float;
__device__ __forceinline__ float to_float(element x) { return x; }
__device__ __forceinline__ element from_float(float x) { return x; }
#elif defined(DTYPE_float16)
using element = unsigned short;
__device__ __forceinline__ float to_float(element x) {
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x));
    return y;
}
__device__ __forceinline__ element from_float(float x) {
    element y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#elif defined(DTYPE_bfloat16)
using element = unsigned short;
__device__ __forceinline__ float to_float(element x) { return __uint_as_float(unsigned(x) << 16); }
__device__ __forceinline__ element from_float(float x) {
    element y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y) : "f"(x));
    return y;
}
#else
#error "define DTYPE_float32, DTYPE_float16 or DTYPE_bfloat16"
#endif

// Elements of one 16-byte access: 4 or 8.
constexpr int VECTOR = 16 / sizeof(element);

struct alignas(16) Vector {
    element x[VECTOR];
};

__device__ __forceinline__ Vector load_vector(const element* source) {
    return *reinterpret_cast<const Vector*>(source);
}

__device__ __forceinline__ void store_vector(element* target, const Vector& v) {
    *reinterpret_cast<Vector*>(target) = v;
}

constexpr int round_up(int x, int step) { return (x + step - 1) / step * step; }
