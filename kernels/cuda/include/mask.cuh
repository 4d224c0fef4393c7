// Which keys a row attends to, for all kernels.
#pragma once
#include "scalar.cuh"

#ifndef TILES_PER_BLOCK_Q
#define TILES_PER_BLOCK_Q 1  // along a side of a block of the block mask, where there is one
#define TILES_PER_BLOCK_K 1
#endif
#ifndef MASK_BLOCK_Q
#define MASK_BLOCK_Q 1  // queries and keys of such a block
#define MASK_BLOCK_K 1
#endif

// Row q attends to the keys begin(q) <= k < end(q). Nk - Nq aligns the last query with the last key.
struct Mask {
    int seqlen_k;
    int left;   // Nk - Nq - how far a row sees to the left
    int right;  // Nk - Nq + how far it sees to the right + 1

    __device__ __forceinline__ int begin(int q) const { return WINDOW ? max(0, q + left) : 0; }
    __device__ __forceinline__ int end(int q) const { return CAUSAL || WINDOW ? min(seqlen_k, q + right) : seqlen_k; }
    static __device__ __forceinline__ Mask of(int seqlen_q, int seqlen_k, int window_left, int window_right) {
        const int shift = seqlen_k - seqlen_q;
        return Mask{seqlen_k, shift - window_left, shift + 1 + (CAUSAL ? 0 : window_right)};
    }
};
