// What the two kernels in flash1's order share beyond their products: which tiles meet, and the state of rows that have
// met no key.
#pragma once
#include "mask.cuh"

// Whether the query tile at q0 and the key tile at k0 keep a pair. `kept`: one int for each block of the block mask.
__device__ __forceinline__ bool tiles_meet(const Mask& mask, const int* kept, int q0, int last_q, int k0, int tile_q,
                                           int tile_k) {
    if (mask.end(last_q) <= k0 || mask.begin(q0) >= k0 + tile_k) return false;
    if (!SPARSE) return true;
    const int blocks_k = (mask.seqlen_k + tile_k * TILES_PER_BLOCK_K - 1) / (tile_k * TILES_PER_BLOCK_K);
    return kept[q0 / (tile_q * TILES_PER_BLOCK_Q) * blocks_k + k0 / (tile_k * TILES_PER_BLOCK_K)] != 0;
}

// O = 0, m = -inf and l = 0 for `rows` rows, by the whole block.
__device__ __forceinline__ void empty_rows(float* o, float* m, float* l, int rows) {
    for (int i = threadIdx.x; i < rows * (HEAD_DIM / 4); i += blockDim.x) {
        reinterpret_cast<float4*>(o)[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int i = threadIdx.x; i < rows; i += blockDim.x) m[i] = MINUS_INFINITY, l[i] = 0.0f;
}
