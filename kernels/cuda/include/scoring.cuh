// What is done to scores besides their scale and masks, by defines that builds without it do not have: a softcap, ALiBi's
// bias, and sinks, which are a matter of the forward pass alone. Before the mask, on the fragments that multiply_rows
// leaves in a warp's registers.
#pragma once
#include "scalar.cuh"
#ifndef SOFTCAP
#define SOFTCAP 0
#endif
#ifndef ALIBI
#define ALIBI 0
#endif
#ifndef SINKS
#define SINKS 0
#endif
#if SOFTCAP || SINKS || ALIBI

struct Scoring {
#if SOFTCAP
    float softcap, inverse;  // 1 / softcap
#endif
#if SINKS
    const float* sinks;  // (heads), natural logits
#endif
#if ALIBI
    const float* slopes;  // (batch * heads)
#endif
};
#define SCORING_GIVEN , const __grid_constant__ Scoring scoring

// tanh(x): near 0 by its series, where the other form would lose digits; both to some units of the last place.
__device__ __forceinline__ float tanh_of(float x) {
    const float square = x * x;
    const float inner = fmaf(square, fmaf(square, fmaf(square, -17.0f / 315.0f, 2.0f / 15.0f), -1.0f / 3.0f), 1.0f);
    const float outer = 1.0f - 2.0f * reciprocal_approx(exp2_approx(2.0f * LOG2E * x) + 1.0f);
    return fabsf(x) < 0.125f ? x * inner : outer;
}

#if SOFTCAP || ALIBI
// From the products of Q and K, which still lack the scale, to scores in base 2.
struct ScoreTerms {
    float share;   // scale / softcap
    float factor;  // log2(e) times the softcap, or the scale without one
    float slope;   // log2(e) times the head's of ALiBi

    // Of a head of all sequences; `scale_factor` is scale log2(e).
    static __device__ __forceinline__ ScoreTerms of(const Scoring& scoring, float scale_factor, float scale,
                                                    long long head) {
        ScoreTerms made{0.0f, scale_factor, 0.0f};
#if SOFTCAP
        made.share = scale * scoring.inverse, made.factor = scoring.softcap * LOG2E;
#endif
#if ALIBI
        made.slope = scoring.slopes[head] * LOG2E;
#endif
        return made;
    }
    // The factor that `apply` leaves to do.
    __device__ __forceinline__ float rest() const { return ALIBI ? 1.0f : factor; }

    // A product to a score, of a pair whose key is so far ahead of its query; how fast it changes with the scaled product.
    __device__ __forceinline__ float apply(float& x, int distance) const {
        if (SOFTCAP) x = tanh_of(x * share);
        const float rate = SOFTCAP ? 1.0f - x * x : 1.0f;
        x = ALIBI ? fmaf(x, factor, slope * float(distance)) : x * factor;
        return rate;
    }

    // All of a warp's, whose rows start at q0, the tile's keys at k0; `shift` is Nk - Nq.
    template <int MT, int COLUMNS>
    __device__ __forceinline__ void apply(float (&s)[MT][COLUMNS][4], int q0, int k0, int shift) const {
        const int lane = threadIdx.x % 32;
        const float first = float(k0 + lane % 4 * 2 - (q0 + lane / 4) - shift);  // distance of the lane's first pair
#pragma unroll
        for (int i = 0; i < MT; ++i) {
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    float& x = s[i][n][c];
                    if (SOFTCAP) x = tanh_of(x * share);
                    if (ALIBI) x = fmaf(x, factor, slope * (first + float(n * 8 + c % 2 - i * 16 - c / 2 * 8)));
                }
            }
        }
    }
};
#define TERMS_TAKEN , const ScoreTerms &terms, int shift
#define TERMS_PASSED , terms, shift
#else
#define TERMS_TAKEN
#define TERMS_PASSED
#endif

#if SINKS
// A head's sink in base 2, finite unless it is none.
__device__ __forceinline__ float sink_of(const Scoring& scoring, int head) {
    return fminf(scoring.sinks[head] * LOG2E, -NO_MAXIMUM);
}
// m and l of rows that have met no key: as if of a score whose value is 0. One lane of a row has its l.
__device__ __forceinline__ void begin_row(float& m, float& l, const Scoring& scoring, int head) {
    const float sink = sink_of(scoring, head);
    m = fmaxf(sink, NO_MAXIMUM);
    l = sink > MINUS_INFINITY && threadIdx.x % 4 == 0 ? 1.0f : 0.0f;
}
#endif
#else
#define SCORING_GIVEN
#define TERMS_TAKEN
#define TERMS_PASSED
#endif
