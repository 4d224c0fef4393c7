// A block mask in flash3's backward pass, from tables (flash3_backward_blocks.py). Needs MASK_BLOCK_K, keys of a block.
#pragma once
#include "mbarrier.cuh"

#if SPARSE
#define TABLES(...) __VA_ARGS__

struct Tables {
    const int2* keys;     // tiles of keys in the order in which they are drawn: first key, tiles of queries that see it
    const int2* queries;  // these, a row for each: twice the tile, and 1 if its pairs need a mask; tiles of keys before
    const u32* kept;      // for each column of blocks a bit for every 8 queries

    __device__ __forceinline__ int tile(int place) const { return __ldg(&queries[place].x) >> 1; }
    __device__ __forceinline__ bool masked(int place) const { return __ldg(&queries[place].x) & 1; }
    // How many tiles of keys are drawn before this one and see the tile of queries.
    __device__ __forceinline__ int before(int place) const { return __ldg(&queries[place].y); }
    // The bits of a key's column of blocks from query q0, a multiple of 64, on.
    __device__ __forceinline__ u32 kept_from(int key, int q0, int seqlen_q, int seqlen_k) const {
        const int words = (seqlen_q + 255) / 256, column = min(key, seqlen_k - 1) / MASK_BLOCK_K;
        return __ldg(kept + (long long)column * words + q0 / 256) >> q0 / 8 % 32;
    }
};
#else
#define TABLES(...)
#endif
