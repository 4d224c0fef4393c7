// Products of a warpgroup (PTX ISA, wgmma): 64 rows x N columns, 16 deep, float32 sums in registers, asynchronous.
// A comes from shared memory (ss) or from registers (rs), B always from shared memory, in the 128-byte swizzle.
//
// NEGATIVE_SCALE negates A in ss: scores under a negative scale.
#pragma once
#include "mbarrier.cuh"

#if defined(DTYPE_float16)
#define WGMMA_TYPE "f16"
#else
#define WGMMA_TYPE "bf16"
#endif
#if NEGATIVE_SCALE
#define SCALE_A "-1"
#else
#define SCALE_A "1"
#endif

// An operand in shared memory (PTX ISA, wgmma, matrix descriptor). In units of 16 bytes: from bit 0 where it begins, from
// bit 16 `leading_bytes`, which is the way from one panel of 64 columns to the next where the operand is transposed,
// from bit 32 the 1024 bytes of 8 rows. From bit 62 the swizzle: 1 is that of 128 bytes.
__device__ __forceinline__ u64 descriptor(u32 address, u32 leading_bytes) {
    return (u64)((address & 0x3FFFF) >> 4) | (u64)(leading_bytes >> 4) << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

// Registers of an asynchronous product must not move: the compiler may not carry a use across a pin.
template <int n>
__device__ __forceinline__ void pin(float (&x)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) asm volatile("" : "+f"(x[i])::"memory");
}
template <int n>
__device__ __forceinline__ void pin(u32 (&x)[n]) {
#pragma unroll
    for (int i = 0; i < n; ++i) asm volatile("" : "+r"(x[i])::"memory");
}

// The instruction names each of its N / 2 sums, so the lists of names and registers are spelled out, eight at a time.
#define NAMES_0 "%0, %1, %2, %3, %4, %5, %6, %7"
#define NAMES_1 "%8, %9, %10, %11, %12, %13, %14, %15"
#define NAMES_2 "%16, %17, %18, %19, %20, %21, %22, %23"
#define NAMES_3 "%24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_4 "%32, %33, %34, %35, %36, %37, %38, %39"
#define NAMES_5 "%40, %41, %42, %43, %44, %45, %46, %47"
#define NAMES_6 "%48, %49, %50, %51, %52, %53, %54, %55"
#define NAMES_7 "%56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_8 "%64, %65, %66, %67, %68, %69, %70, %71"
#define NAMES_9 "%72, %73, %74, %75, %76, %77, %78, %79"
#define NAMES_10 "%80, %81, %82, %83, %84, %85, %86, %87"
#define NAMES_11 "%88, %89, %90, %91, %92, %93, %94, %95"
#define NAMES_12 "%96, %97, %98, %99, %100, %101, %102, %103"
#define NAMES_13 "%104, %105, %106, %107, %108, %109, %110, %111"
#define NAMES_14 "%112, %113, %114, %115, %116, %117, %118, %119"
#define NAMES_15 "%120, %121, %122, %123, %124, %125, %126, %127"
#define EIGHT(i)                                                                                             \
    "+f"(c[i]), "+f"(c[i + 1]), "+f"(c[i + 2]), "+f"(c[i + 3]), "+f"(c[i + 4]), "+f"(c[i + 5]), "+f"(c[i + 6]), \
        "+f"(c[i + 7])
#define TEXT_64 NAMES_0 ", " NAMES_1 ", " NAMES_2 ", " NAMES_3
#define TEXT_80 TEXT_64 ", " NAMES_4
#define TEXT_96 TEXT_80 ", " NAMES_5
#define TEXT_112 TEXT_96 ", " NAMES_6
#define TEXT_128 TEXT_112 ", " NAMES_7
#define TEXT_160 TEXT_128 ", " NAMES_8 ", " NAMES_9
#define TEXT_176 TEXT_160 ", " NAMES_10
#define TEXT_192 TEXT_176 ", " NAMES_11
#define TEXT_224 TEXT_192 ", " NAMES_12 ", " NAMES_13
#define TEXT_256 TEXT_224 ", " NAMES_14 ", " NAMES_15
#define REGS_64 EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24)
#define REGS_80 REGS_64, EIGHT(32)
#define REGS_96 REGS_80, EIGHT(40)
#define REGS_112 REGS_96, EIGHT(48)
#define REGS_128 REGS_112, EIGHT(56)
#define REGS_160 REGS_128, EIGHT(64), EIGHT(72)
#define REGS_176 REGS_160, EIGHT(80)
#define REGS_192 REGS_176, EIGHT(88)
#define REGS_224 REGS_192, EIGHT(96), EIGHT(104)
#define REGS_256 REGS_224, EIGHT(112), EIGHT(120)

// wgmma_ss: C = A B (accumulate 0) or C += A B; wgmma_sst, wgmma_rs: C += A B with B transposed; wgmma_t: like wgmma_ss
// with A transposed, and B too if `b_transposed`. x0 to x4 name the operands after the sums.
#define WGMMA(N, x0, x1, x2, x3, x4)                                                                            \
    template <int accumulate>                                                                                   \
    __device__ __forceinline__ void wgmma_ss(float (&c)[N / 2], u64 a, u64 b) {                                 \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, " x2 ", 0;\n"                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." WGMMA_TYPE "." WGMMA_TYPE " {" TEXT_##N  \
                     "}, " x0 ", " x1 ", p, " SCALE_A ", 1, 0, 0; }\n"                                          \
                     : REGS_##N                                                                                 \
                     : "l"(a), "l"(b), "n"(accumulate));                                                        \
    }                                                                                                           \
    __device__ __forceinline__ void wgmma_sst(float (&c)[N / 2], u64 a, u64 b) {                                \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." WGMMA_TYPE "." WGMMA_TYPE " {" TEXT_##N  \
                     "}, " x0 ", " x1 ", 1, 1, 1, 0, 1;\n"                                                      \
                     : REGS_##N                                                                                 \
                     : "l"(a), "l"(b));                                                                         \
    }                                                                                                           \
    template <int accumulate, int b_transposed>                                                                 \
    __device__ __forceinline__ void wgmma_t(float (&c)[N / 2], u64 a, u64 b) {                                  \
        asm volatile("{ .reg .pred p; setp.ne.b32 p, " x2 ", 0;\n"                                              \
                     "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." WGMMA_TYPE "." WGMMA_TYPE " {" TEXT_##N  \
                     "}, " x0 ", " x1 ", p, 1, 1, 1, " x3 "; }\n"                                               \
                     : REGS_##N                                                                                 \
                     : "l"(a), "l"(b), "n"(accumulate), "n"(b_transposed));                                     \
    }                                                                                                           \
    __device__ __forceinline__ void wgmma_rs(float (&c)[N / 2], u32 a0, u32 a1, u32 a2, u32 a3, u64 b) {        \
        asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." WGMMA_TYPE "." WGMMA_TYPE " {" TEXT_##N  \
                     "}, {" x0 ", " x1 ", " x2 ", " x3 "}, " x4 ", 1, 1, 1, 1;\n"                               \
                     : REGS_##N                                                                                 \
                     : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b));                                             \
    }
WGMMA(64, "%32", "%33", "%34", "%35", "%36")
WGMMA(80, "%40", "%41", "%42", "%43", "%44")
WGMMA(96, "%48", "%49", "%50", "%51", "%52")
WGMMA(112, "%56", "%57", "%58", "%59", "%60")
WGMMA(128, "%64", "%65", "%66", "%67", "%68")
WGMMA(160, "%80", "%81", "%82", "%83", "%84")
WGMMA(176, "%88", "%89", "%90", "%91", "%92")
WGMMA(192, "%96", "%97", "%98", "%99", "%100")
WGMMA(224, "%112", "%113", "%114", "%115", "%116")
WGMMA(256, "%128", "%129", "%130", "%131", "%132")
