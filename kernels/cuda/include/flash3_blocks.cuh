// What flash3's warpgroups work on under a block mask, from tables (flash3_blocks.py). A key tile begins at any multiple
// of 8 keys. Needs BLOCK_ROWS, query rows of a block of the mask.
#pragma once
#include "flash3_lengths.cuh"

struct Tables {
    const int2* order;    // of all tiles: head, and which tile of queries
    const int4* queries;  // tiles of queries: first query, key tiles without a mask, key tiles, where their list is
    const int* keys;      // lists of key tiles by their first keys: those without a mask, then the others, each rising
    const u32* kept;      // for each row of blocks a bit for every 8 keys

    // The bits from `key` on of the row of blocks of a query, or of the last one. Queries count from the first key.
    __device__ __forceinline__ u32 kept_from(int query, int key, int seqlen_q, int seqlen_k) const {
        const int words = (seqlen_k + 255) / 256 + 1, row = min(query + seqlen_q - seqlen_k, seqlen_q - 1) / BLOCK_ROWS;
        const u32* const word = kept + (long long)row * words + key / 256;
        return __funnelshift_r(__ldg(word), __ldg(word + 1), key / 8);
    }
};

// The same members as in flash3_tiles.cuh; those that this has no use for hold nothing.
struct Work {
    // Key tiles last, last - 1, ..., begin, of which those before `whole` need no mask.
    int head, q0, begin, last, lower, whole;
    int queries, keys;
    const int* list;  // of its key tiles by their first keys
    __device__ __forceinline__ bool empty() const { return last < begin; }
    __device__ __forceinline__ static int2 place(int tile, int tiles, int, int, int, const Tables& tables) {
        return tile < tiles ? __ldg(tables.order + tile) : make_int2(-1, 0);
    }
    __device__ __forceinline__ Work(int2 place, int, int, int, int, int, int splits, const Tables& tables,
                                    const Lengths&, int)
        : head(place.x), begin(0) {
        const int4 tile = __ldg(tables.queries + place.y);
        q0 = tile.x;
        whole = tile.y;
        last = tile.z - 1;
        list = tables.keys + tile.w;
        if (SPLIT) take_part(begin, last, head % splits, splits);
    }
};

struct Own {  // every warpgroup takes all of the tile's keys
    int last, limit, whole;
    __device__ __forceinline__ bool half(int) const { return false; }
    __device__ __forceinline__ Own(const Work& work, int, int, int, int, int) : last(work.last), whole(work.whole) {}
};
