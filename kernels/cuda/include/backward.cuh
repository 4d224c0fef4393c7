// What the backward passes share: which tiles meet, P from the scores and LSE, dS, and delta.
//
// P = exp2(factor * s - lse) with factor = scale * log2(e) and LSE in base 2 needs no maximum: nothing is compared, so
// that the scale's sign needs no care either. Hidden entries are set to 0 after it, as what they overflow to is unused.
#pragma once
#include "mask.cuh"
#include "product.cuh"

// Whether the queries q0 .. last_q and `keys` keys from k0 on keep a pair. `kept`: one int for each block of the block
// mask, of MASK_BLOCK_Q x MASK_BLOCK_K pairs; the tile never lies in two of them.
__device__ __forceinline__ bool meet(const Mask& mask, const int* kept, int q0, int last_q, int k0, int keys) {
    if (mask.end(last_q) <= k0 || mask.begin(q0) >= k0 + keys) return false;
    if (!SPARSE) return true;
    const int blocks_k = (mask.seqlen_k + MASK_BLOCK_K - 1) / MASK_BLOCK_K;
    return kept[q0 / MASK_BLOCK_Q * blocks_k + k0 / MASK_BLOCK_K] != 0;
}

// Whether such a tile keeps all its pairs.
__device__ __forceinline__ bool whole(const Mask& mask, int q0, int last_q, int k0, int keys) {
    return k0 >= mask.begin(last_q) && k0 + keys <= mask.end(q0);
}

// LSE and delta of a query row. Of one that keeps no key, or does not exist, LSE is such that P = 0.
struct RowState {
    float lse;  // in base 2
    float delta;

    static __device__ __forceinline__ RowState of(float natural_lse, float delta) {
        return RowState{natural_lse == MINUS_INFINITY ? -MINUS_INFINITY : natural_lse * LOG2E, delta};
    }
    static __device__ __forceinline__ RowState of(const float* lse, const float* delta, long long row, bool exists) {
        const float natural = exists ? lse[row] : MINUS_INFINITY;
        return of(natural, exists ? delta[row] : 0.0f);
    }
    __device__ __forceinline__ float probability(float s, float factor) const {
        return exp2_approx(fmaf(s, factor, -lse));
    }
};

// Entries of hidden pairs become 0. The warp's rows start at row0, the tile's columns at column0; rows are queries and
// columns keys, or (KEYS_FIRST) the other way round.
template <bool KEYS_FIRST, int MT, int COLUMNS>
__device__ __forceinline__ void hide(float (&p)[MT][COLUMNS][4], const Mask& mask, int row0, int column0) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const int row = row0 + i * 16 + lane / 4 + c / 2 * 8, column = column0 + n * 8 + lane % 4 * 2 + c % 2;
                const int query = KEYS_FIRST ? column : row, key = KEYS_FIRST ? row : column;
                if (key < mask.begin(query) || key >= mask.end(query)) p[i][n][c] = 0.0f;
            }
        }
    }
}

template <int MT, int COLUMNS>
__device__ __forceinline__ void scale_all(float (&x)[MT][COLUMNS][4], float factor) {
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) x[i][n][c] *= factor;
        }
    }
}

// delta = rowsum(dO O) of one row, by a warp.
__device__ __forceinline__ float row_delta(const element* o, const element* grad_output) {
    float sum = 0.0f;
    for (int column = threadIdx.x % 32 * 8; column < HEAD_DIM; column += 32 * 8) {
        const Vector a = load_vector(o + column), b = load_vector(grad_output + column);
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) sum = fmaf(to_float(a.x[i]), to_float(b.x[i]), sum);
    }
#pragma unroll
    for (int other = 16; other > 0; other /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, other);
    return sum;
}
