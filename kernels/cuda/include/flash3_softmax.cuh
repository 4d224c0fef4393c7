// flash3's softmax in the registers of a warpgroup's product.
// A thread holds two rows of S (64 x BLOCK_K) and of O (64 x HEAD_DIM), lane / 4 and 8 below: register i is column
// i / 4 * 8 + lane % 4 * 2 + i % 2 of row i / 2 % 2. Needs WINDOW; SPARSE, with a block mask.
#pragma once
#include "flash3_clocks.cuh"
#include "flash3_layout.cuh"
#include "flash3_recording.cuh"
#include "quad.cuh"
#include "scalar.cuh"
#include "scoring.cuh"

// Of each of a thread's rows under a block mask: a bit for every 8 keys.
template <bool sparse>
struct KeptIf {
    __device__ __forceinline__ bool keeps(int, int) const { return true; }
    __device__ __forceinline__ void keep(int, u32) {}
};
template <>
struct KeptIf<true> {
    u32 kept[2];
    __device__ __forceinline__ bool keeps(int r, int eight) const { return kept[r] >> eight & 1; }
    __device__ __forceinline__ void keep(int r, u32 bits) { kept[r] = bits; }
};
struct RowMask : KeptIf<SPARSE> {  // of each of a thread's rows: its keys [from, to), counted from its first column
    int from[2], to[2];
#if ALIBI
    float bias[2], slope[2];  // in base 2: at its first column, and how much more a column later
#endif
};

// Whether m is c times the maximum of the scores, rounded once, or the score itself. Where the maximum stays alpha is
// exactly 1 either way, see softmax.cuh; which one the compiler schedules better differs, by up to 2 %.
constexpr bool SCALED = HEAD_DIM > 64 || ALIBI || SINKS;

// LAZY, as flash-attn-4 on Blackwell: m follows the maximum only when it rose by more than 8 in base 2. Until then p is
// at most 2^8, to the same relative precision, and what was summed needs no factor; so that O overflows at V 2^8 times
// smaller, 1e33 at N = 2k. Rounded down, as where an ulp is 16 the next score may be larger by that.
#ifndef LAZY
#define LAZY 0
#endif
constexpr float HEADROOM = 8.0f;

// What a score is multiplied with, in base 2; of a softcap also what it was multiplied with before the tanh.
#if SOFTCAP
struct Factor {
    float factor, share;
    __device__ __forceinline__ operator float() const { return factor; }
};
#else
using Factor = float;
#endif

#if TRACE || LIVE
struct Softmax : Recorder {
#else
struct Softmax {
#endif
    float m[2], l[2] = {0.0f, 0.0f}, alpha[2] = {0.0f, 0.0f};
    bool moved = false;  // LAZY: m of one of the rows, in the last step

    __device__ __forceinline__ Softmax() { m[0] = m[1] = SCALED ? NO_MAXIMUM : MINUS_INFINITY; }

    // Scores s become p = exp2(c s - shift), and alpha the factor on what was summed before, which is taken last: the
    // exponentials need not wait for it.
    template <bool MASK, int n>
    __device__ __forceinline__ void step(float (&s)[n], const Factor& factor, const RowMask& mask) {
#if SOFTCAP
#pragma unroll
        for (int i = 0; i < n; ++i) s[i] = tanh_of(s[i] * factor.share);
#endif
#if ALIBI
        // What the bias adds from the first column on; there it goes into the maximum.
#pragma unroll
        for (int i = 0; i < n; ++i)
            s[i] = fmaf(s[i], factor, mask.slope[i / 2 % 2] * float(i / 4 * 8 + i % 2));
        constexpr float c = 1.0f;
#else
        const float c = factor;
#endif
        if (MASK) {
#pragma unroll
            for (int i = 0; i < n; ++i) {
                const int column = i / 4 * 8 + i % 2;
                if (column >= mask.to[i / 2 % 2] || (WINDOW && column < mask.from[i / 2 % 2])) s[i] = MINUS_INFINITY;
                if (SPARSE && !mask.keeps(i / 2 % 2, i / 4)) s[i] = MINUS_INFINITY;
            }
        }
#if TRACE
        scores(s, c);
#endif
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            float top = fmaxf(s[2 * r], s[2 * r + 1]);
#pragma unroll
            for (int i = 4; i < n; i += 4) top = fmaxf(top, fmaxf(s[i + 2 * r], s[i + 2 * r + 1]));
            const float old = m[r];
#if ALIBI
            const float now = quad_max(top + mask.bias[r]);
#else
            const float now = quad_max(SCALED ? top * c : top);
#endif
            CLOCK_OF_PV(r)
            if (LAZY) {
                const bool rose = now > __fadd_rd(old, SCALED ? HEADROOM : HEADROOM / c);
                m[r] = rose ? now : old;
                moved = rose || (r && moved);
            } else {
                m[r] = fmaxf(old, now);
            }
#if ALIBI
            const float shift = m[r] - mask.bias[r];
#else
            const float shift = SCALED ? m[r] : m[r] == MINUS_INFINITY ? 0.0f : m[r] * c;
#endif
            float sum = 0.0f;
#pragma unroll
            for (int i = 0; i < n; i += 4) {
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    float& x = s[i + 2 * r + e];
                    x = fmaf(x, c, -shift);
                    x = exp2_approx(x);
                    sum += x;
                }
            }
            if (SCALED) alpha[r] = exp2_approx(old - m[r]);
            else alpha[r] = old == m[r] ? 1.0f : exp2_approx(fmaf(old, c, -shift));
            l[r] = fmaf(l[r], alpha[r], sum);
        }
#if TRACE
        state(m, l, alpha, SCALED ? LN2 : c * LN2);
#endif
    }
    // After the last step: l of the whole row, and alpha what O takes at the end.
    __device__ __forceinline__ void total() {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            l[r] = quad_sum(l[r]);
            alpha[r] = l[r] > 0.0f ? 1.0f / l[r] : 0.0f;
        }
    }
#if SINKS
    // The same with a score for each row whose value is 0, in base 2.
    __device__ __forceinline__ void total(const float (&sinks)[2]) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float before = m[r];
            m[r] = fmaxf(before, sinks[r]);
            const float keep = exp2_approx(before - m[r]);
            l[r] = fmaf(quad_sum(l[r]), keep, exp2_approx(sinks[r] - m[r]));
            alpha[r] = l[r] > 0.0f ? keep / l[r] : 0.0f;
        }
    }
#endif
};

#if SINKS || ALIBI
// The query heads, of all sequences, of a thread's two rows: where heads are packed each row has its own.
struct RowHeads {
    int of[2];
    // Of head `head` of the tiles, and of `row` of it and 8 below.
    __device__ __forceinline__ void take(int head, int row, int head_rows, int group_heads) {
#pragma unroll
        for (int r = 0; r < 2; ++r)
            of[r] = PACKED ? head * group_heads + min((row + 8 * r) / head_rows, group_heads - 1) : head;
    }
};
#endif

// Keys that there are no scores of have the weight 0.
template <int n>
__device__ __forceinline__ void pack_all(u32 (&p)[S_REGS / 2], const float (&s)[n]) {
#pragma unroll
    for (int i = 0; i < n / 2; ++i) p[i] = pack(s[2 * i], s[2 * i + 1]);
#pragma unroll
    for (int i = n / 2; i < S_REGS / 2; ++i) p[i] = 0;
}
