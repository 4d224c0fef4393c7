// The keys that a query tile meets, as one walk without gaps: position `at` of `count` is key(at). STEP neighbours from
// a multiple of STEP on are neighbouring keys, the first a multiple of STEP, and never lie in two blocks of a block
// mask. TILE_ROWS and TILE_KEYS: the tile that the tables of the block mask are made for.
#pragma once
#include "mask.cuh"

template <int TILE_ROWS, int TILE_KEYS, bool OF_BLOCKS>
struct KeyWalkOf {
    int count, first;
    __device__ __forceinline__ int key(int at) const { return first + at; }

    // Of the query rows first_q .. last_q.
    template <int STEP>
    static __device__ __forceinline__ KeyWalkOf of(const Mask& mask, int first_q, int last_q, const int*, const int*) {
        const int first = mask.begin(first_q) / STEP * STEP;
        return KeyWalkOf{max(0, mask.end(last_q) - first), first};
    }
};
template <int TILE_ROWS, int TILE_KEYS>
struct KeyWalkOf<TILE_ROWS, TILE_KEYS, true> {
    static constexpr int BLOCK_ROWS = TILES_PER_BLOCK_Q * TILE_ROWS, BLOCK_KEYS = TILES_PER_BLOCK_K * TILE_KEYS;
    static constexpr int first = 0;  // of all keys, for those who do not know which walk it is
    int count;
    const int* list;  // the kept blocks of this row of blocks, in rising order
    __device__ __forceinline__ int key(int at) const { return list[at / BLOCK_KEYS] * BLOCK_KEYS + at % BLOCK_KEYS; }

    template <int STEP>
    static __device__ __forceinline__ KeyWalkOf of(const Mask& mask, int first_q, int, const int* lists,
                                                   const int* counts) {
        const int row = first_q / BLOCK_ROWS, blocks = (mask.seqlen_k + BLOCK_KEYS - 1) / BLOCK_KEYS;
        return KeyWalkOf{counts[row] * TILE_KEYS, lists + row * blocks};
    }
};
template <int TILE_ROWS, int TILE_KEYS>
using KeyWalk = KeyWalkOf<TILE_ROWS, TILE_KEYS, SPARSE>;
