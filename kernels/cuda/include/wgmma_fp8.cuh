// Products of a warpgroup in 8 bits (PTX ISA, wgmma): 64 rows x 64 columns, 32 deep, e4m3 by e4m3, sums in registers.
// Both operands are contiguous along the depth and lie unswizzled: 8 rows x 16 bytes are a patch of 128 bytes, and
// the patches of 8 rows follow each other. A swizzled operand is multiplied no faster (flash3-fp8-attempts.md).
//
// The sums lose 2^-9 of themselves with every product 32 deep: see Rounding.product_error in kernels/catalogue/fp8.py.
#pragma once
#include "wgmma.cuh"

constexpr int PATCH = 128;                // bytes of 8 rows x 16 columns
constexpr u32 FURTHER = 2 * PATCH >> 4;  // what a descriptor grows by from one product to the next along the depth

// Where a byte of an operand of so many columns lies.
template <int columns>
__device__ __forceinline__ u32 operand_at(int row, int column) {
    return row / 8 * (8 * columns) + column / 16 * PATCH + row % 8 * 16 + column % 16;
}
template <int columns>
__device__ __forceinline__ u64 operand(u32 address) {
    return (u64)((address & 0x3FFFF) >> 4) | (u64)(PATCH >> 4) << 16 | (u64)(8 * columns >> 4) << 32;
}

// C = A B (accumulate 0) or C += A B; A in shared memory (ss) or in registers (rs).
template <int accumulate>
__device__ __forceinline__ void wgmma_fp8_ss(float (&c)[32], u64 a, u64 b) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %34, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" TEXT_64 "}, %32, %33, p, 1, 1; }\n"
                 : REGS_64
                 : "l"(a), "l"(b), "n"(accumulate));
}
template <int accumulate>
__device__ __forceinline__ void wgmma_fp8_rs(float (&c)[32], u32 a0, u32 a1, u32 a2, u32 a3, u64 b) {
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %37, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 {" TEXT_64 "}, "
                 "{%32, %33, %34, %35}, %36, p, 1, 1; }\n"
                 : REGS_64
                 : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "l"(b), "n"(accumulate));
}
