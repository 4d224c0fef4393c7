// Numbers and functions of one thread that all kernels share: what stands for no score, powers and logarithms to the base
// 2, and pairs of 16-bit elements.
#pragma once

constexpr float LN2 = 0.693147180559945309f, LOG2E = 1.44269504088896341f;
#define MINUS_INFINITY __int_as_float(0xff800000)  // the score of a masked entry; no constexpr has it as a value
// The maximum of no scores: lower than any score, but finite, as -inf - -inf is NaN.
constexpr float NO_MAXIMUM = -3.4028234e38f;

__device__ __forceinline__ float reciprocal_approx(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float log2_approx(float x) {
    float y;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

__device__ __forceinline__ float exp2_approx(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

// Two floats to two elements, `low` in the low half; bfloat16 or, of any other dtype, float16.
__device__ __forceinline__ unsigned pack(float low, float high) {
    unsigned y;
#if defined(DTYPE_bfloat16)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
#elif __CUDA_ARCH__ >= 800
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(high), "f"(low));
#else
    asm("{.reg .f16 a, b;\n cvt.rn.f16.f32 a, %1;\n cvt.rn.f16.f32 b, %2;\n mov.b32 %0, {a, b};}"
        : "=r"(y)
        : "f"(low), "f"(high));
#endif
    return y;
}

__device__ __forceinline__ float2 unpack(unsigned x) {
#if defined(DTYPE_bfloat16)
    return make_float2(__uint_as_float(x << 16), __uint_as_float(x & 0xffff0000u));
#else
    float2 y;
    asm("{.reg .f16 a, b;\n mov.b32 {a, b}, %2;\n cvt.f32.f16 %0, a;\n cvt.f32.f16 %1, b;}"
        : "=f"(y.x), "=f"(y.y)
        : "r"(x));
    return y;
#endif
}
