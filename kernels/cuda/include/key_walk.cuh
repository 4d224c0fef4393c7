// The keys that a query tile meets, as one walk without gaps: position `at` of `count` is key(at). STEP neighbours from
// a multiple of STEP on are neighbouring keys, the first a multiple of STEP, and never lie in two blocks of a block
// mask. TILE_ROWS and TILE_KEYS: the tile that the tables of the block mask are made for.
#pragma once
#include "mask.cuh"

template <int TILE_ROWS, int TILE_KEYS>
struct KeyWalk {
    int count;
#if SPARSE
    static constexpr int BLOCK_ROWS = TILES_PER_BLOCK_Q * TILE_ROWS, BLOCK_KEYS = TILES_PER_BLOCK_K * TILE_KEYS;
    const int* list;  // the kept blocks of this row of blocks, in rising order
    __device__ __forceinline__ int key(int at) const { return list[at / BLOCK_KEYS] * BLOCK_KEYS + at % BLOCK_KEYS; }
#else
    int first;
    __device__ __forceinline__ int key(int at) const { return first + at; }
#endif

    // Of the query rows first_q .. last_q.
    template <int STEP>
    static __device__ __forceinline__ KeyWalk of(const Mask& mask, int first_q, int last_q, const int* lists,
                                                 const int* counts) {
#if SPARSE
        const int row = first_q / BLOCK_ROWS, blocks = (mask.seqlen_k + BLOCK_KEYS - 1) / BLOCK_KEYS;
        return KeyWalk{counts[row] * TILE_KEYS, lists + row * blocks};
#else
        const int first = mask.begin(first_q) / STEP * STEP;
        return KeyWalk{max(0, mask.end(last_q) - first), first};
#endif
    }
};
