// flash3's softmax in the registers of a warpgroup's product, and the store of O and LSE.
// A thread holds two rows of S (64 x BLOCK_K) and of O (64 x HEAD_DIM), lane / 4 and 8 below: register i is column
// i / 4 * 8 + lane % 4 * 2 + i % 2 of row i / 2 % 2. Needs WINDOW; SPARSE, with a block mask.
#pragma once
#include "flash3_lengths.cuh"
#include "quad.cuh"

#if defined(DTYPE_float16)
#define PACK "cvt.rn.f16x2.f32 %0, %1, %2;"
#else
#define PACK "cvt.rn.bf16x2.f32 %0, %1, %2;"
#endif
#define NONE __int_as_float(0xff800000)  // -inf: the score of a masked entry
constexpr float LOWEST = -3.4028234e38f;  // the maximum of no scores, see softmax.cuh
constexpr float LN2 = 0.693147180559945309f, LOG2E = 1.44269504088896341f;

__device__ __forceinline__ float exp2_unit(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ u32 pack(float low, float high) {
    u32 y;
    asm(PACK : "=r"(y) : "f"(high), "f"(low));
    return y;
}
__device__ __forceinline__ float quad_max(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}
__device__ __forceinline__ float quad_sum(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

struct Mask {  // of each of a thread's rows: its keys [from, to), counted from its first column
    int from[2], to[2];
#if SPARSE
    u32 kept[2];  // a bit for every 8 keys
#endif
};

// Whether m is c times the maximum of the scores, rounded once, or the score itself. Where the maximum stays alpha is
// exactly 1 either way, see softmax.cuh; which one the compiler schedules better differs, by up to 2 %.
constexpr bool SCALED = HEAD_DIM > 64;

// LAZY, as flash-attn-4 on Blackwell: m follows the maximum only when it rose by more than 8 in base 2. Until then p is
// at most 2^8, to the same relative precision, and what was summed needs no factor; so that O overflows at V 2^8 times
// smaller, 1e33 at N = 2k. Rounded down, as where an ulp is 16 the next score may be larger by that.
#ifndef LAZY
#define LAZY 0
#endif
constexpr float HEADROOM = 8.0f;

struct Softmax {
    float m[2], l[2] = {0.0f, 0.0f}, alpha[2];
    bool moved = false;  // LAZY: m of one of the rows, in the last step

    __device__ __forceinline__ Softmax() { m[0] = m[1] = SCALED ? LOWEST : NONE; }

    // Scores s become p = exp2(c s - shift), and alpha the factor on what was summed before, which is taken last: the
    // exponentials need not wait for it.
    template <bool MASK>
    __device__ __forceinline__ void step(float (&s)[S_REGS], float c, const Mask& mask) {
        if (MASK) {
#pragma unroll
            for (int i = 0; i < S_REGS; ++i) {
                const int column = i / 4 * 8 + i % 2;
                if (column >= mask.to[i / 2 % 2] || (WINDOW && column < mask.from[i / 2 % 2])) s[i] = NONE;
#if SPARSE
                if (!(mask.kept[i / 2 % 2] >> i / 4 & 1)) s[i] = NONE;
#endif
            }
        }
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            float top = fmaxf(s[2 * r], s[2 * r + 1]);
#pragma unroll
            for (int i = 4; i < S_REGS; i += 4) top = fmaxf(top, fmaxf(s[i + 2 * r], s[i + 2 * r + 1]));
            const float old = m[r];
            const float now = quad_max(SCALED ? top * c : top);
            if (LAZY) {
                const bool rose = now > __fadd_rd(old, SCALED ? HEADROOM : HEADROOM / c);
                m[r] = rose ? now : old;
                moved = rose || (r && moved);
            } else {
                m[r] = fmaxf(old, now);
            }
            const float shift = SCALED ? m[r] : m[r] == NONE ? 0.0f : m[r] * c;
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < S_REGS; i += 4) {
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    float& x = s[i + 2 * r + e];
                    x = fmaf(x, c, -shift);
                    x = exp2_unit(x);
                    sum += x;
                }
            }
            if (SCALED) alpha[r] = exp2_unit(old - m[r]);
            else alpha[r] = old == m[r] ? 1.0f : exp2_unit(fmaf(old, c, -shift));
            l[r] = fmaf(l[r], alpha[r], sum);
        }
    }
};

__device__ __forceinline__ void pack_all(u32 (&p)[S_REGS / 2], const float (&s)[S_REGS]) {
#pragma unroll
    for (int i = 0; i < S_REGS / 2; ++i) p[i] = pack(s[2 * i], s[2 * i + 1]);
}

#if SPLIT
// Of one part of a row's keys: O = sum p V, and m in base 2 with l = sum p. `unit` is what m counts in.
using Output = float;
using RowSum = float2;
__device__ __forceinline__ void store_rows(float (&o)[O_REGS], const Softmax& state, Output* out, RowSum* sums, int head,
                                           int row0, int seqlen_q,
                                           float unit LENGTHS(, int head_rows, int queries)) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float l = quad_sum(state.l[r]);
        const int row = row0 + 8 * r;
        if (row >= seqlen_q) continue;
        LENGTHS(if ((PACKED ? row % head_rows : row) >= queries) clear_row(o, l, r);)
        const long long at = (long long)head * seqlen_q + row;
        const float shift = SCALED ? state.m[r] : state.m[r] * fmaxf(unit * LOG2E, 1e-30f);
        if (lane % 4 == 0) sums[at] = make_float2(l > 0.0f ? shift : LOWEST, l);
#pragma unroll
        for (int i = 0; i < O_REGS; i += 4) {
            *(float2*)(out + at * HEAD_DIM + i * 2 + lane % 4 * 2) = make_float2(o[i + 2 * r], o[i + 2 * r + 1]);
        }
    }
}
#else
using Output = unsigned short;
using RowSum = float;
// `unit` is what m counts in: LSE = unit m + log l.
__device__ __forceinline__ void store_rows(float (&o)[O_REGS], const Softmax& state, unsigned short* out, float* lse,
                                           int head, int row0, int seqlen_q,
                                           float unit LENGTHS(, int head_rows, int queries)) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float l = quad_sum(state.l[r]);
        LENGTHS(if ((PACKED ? (row0 + 8 * r) % head_rows : row0 + 8 * r) >= queries) clear_row(o, l, r);)
        const float inverse = l > 0.0f ? 1.0f / l : 0.0f;
        const int row = row0 + 8 * r;
        const long long at = (long long)head * seqlen_q + row;
        if (row < seqlen_q && lane % 4 == 0) lse[at] = l > 0.0f ? state.m[r] * unit + __logf(l) : NONE;
#pragma unroll
        for (int i = 0; i < O_REGS; i += 16) {
            u32 x[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                x[j] = pack(o[i + 4 * j + 2 * r] * inverse, o[i + 4 * j + 2 * r + 1] * inverse);
            const uint4 piece = quad_transpose(x[0], x[1], x[2], x[3], lane);
            if (row < seqlen_q) *(uint4*)(out + at * HEAD_DIM + i * 2 + lane % 4 * 8) = piece;
        }
    }
}
#endif
