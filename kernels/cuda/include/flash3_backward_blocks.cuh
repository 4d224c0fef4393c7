// A block mask in flash3's backward pass, from tables (flash3_backward_blocks.py). Needs MASK_BLOCK_K, keys of a block.
#pragma once
#include "mbarrier.cuh"

#ifndef MASK_BLOCK_K
#define MASK_BLOCK_K 1
#endif

// What a launch is given of a block mask: without one no byte.
template <bool sparse>
struct TablesIf {
    __device__ __forceinline__ int2 key_tile(int) const { return make_int2(0, 0); }
    __device__ __forceinline__ int tile(int) const { return 0; }
    __device__ __forceinline__ bool masked(int) const { return false; }
    __device__ __forceinline__ int before(int) const { return 0; }
    __device__ __forceinline__ u32 kept_from(int, int, int, int) const { return 0; }
};
template <>
struct TablesIf<true> {
    const int2* keys;     // tiles of keys in the order in which they are drawn: first key, tiles of queries that see it
    const int2* queries;  // these, a row for each: twice the tile, and 1 if its pairs need a mask; tiles of keys before
    const u32* kept;      // for each column of blocks a bit for every 8 queries

    __device__ __forceinline__ int2 key_tile(int place) const { return __ldg(keys + place); }
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
using Tables = TablesIf<SPARSE>;
