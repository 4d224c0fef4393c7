// What flash3's warpgroups must know of sequences of different lengths (RAGGED, ragged.cuh).
//
// A tile of Q and one of K bring padding along. NaN in a row of Q stays in that row, which is stored as zeros; masked
// keys have no score; but a weight of 0 times NaN is NaN, so V's rows behind the last key become zeros.
#pragma once
#include "flash3_layout.cuh"
#include "ragged.cuh"

// What a launch is given of them: without a byte where all sequences are as long as the arrays.
template <bool ragged>
struct LengthsIf {
    __device__ __forceinline__ int queries(int) const { return 0; }
    __device__ __forceinline__ int keys(int) const { return 0; }
};
template <>
struct LengthsIf<true> {
    const int *query_lengths, *key_lengths;
    // Query rows of each head of a sequence, and its keys.
    __device__ __forceinline__ int queries(int sequence) const { return __ldg(query_lengths + sequence); }
    __device__ __forceinline__ int keys(int sequence) const { return __ldg(key_lengths + sequence); }
};
using Lengths = LengthsIf<RAGGED>;

// Waits for the next tile of V and clears its rows from `rows` on. Every warpgroup that uses the tile does so.
__device__ __forceinline__ void clear_tail(const Shared& at, const Ring& rv, int group, int rows) {
    const u32 v = at.v + rv.stage * V_BYTES;
    wait(at.v_full(rv.stage), rv.phase);
#pragma unroll
    for (int p = 0; p < V_PANELS; ++p) {
        for (int chunk = rows * 8 + threadIdx.x % 128; chunk < BLOCK_K * 8; chunk += 128)
            store_zeros(v + p * K_PANEL + chunk * 16);
    }
    publish_stores();
    group_sync(cleared_by(group));
}

// A row of padding comes to nothing.
template <int n>
__device__ __forceinline__ void clear_row(float (&o)[n], float& l, int r) {
    l = 0.0f;
#pragma unroll
    for (int i = 0; i < n; i += 4) o[i + 2 * r] = o[i + 2 * r + 1] = 0.0f;
}
