// What flash3's warpgroups work on: the order of the tiles, and which keys a tile and each warpgroup's rows see.
// Needs CAUSAL and WINDOW. flash3_blocks.cuh is the same under a block mask. RISING: a head's first tiles come first, as
// they have the most keys; else its last ones.
//
// Work and Own have the same members in both, so that flash3.cu chooses between them within its expressions, by RAGGED and
// SPARSE: a function for that, even inlined, changes the registers of the whole kernel.
#pragma once
#include "flash3_lengths.cuh"

#ifndef RISING
#define RISING 0
#endif

struct Tables {  // of a block mask: none here
    __device__ __forceinline__ u32 kept_from(int, int, int, int) const { return ~0u; }
};

// A tile of queries: which head, where, how many key tiles.
struct Work {
    // Key tiles last, last - 1, ..., begin; every row sees the keys from `lower` on.
    int head, q0, begin, last, lower;
    int queries, keys;  // RAGGED: query rows of each head of the sequence, and its keys
    const int* list;    // SPARSE
    __device__ __forceinline__ bool empty() const { return last < begin; }
    // Tiles are numbered by sections of heads whose K and V fit the L2 together; in a section the longest come first.
    __device__ __forceinline__ static int2 place(int tile, int tiles, int heads, int section, int tiles_q,
                                                      const Tables&) {
        if (tile >= tiles) return make_int2(-1, 0);
        if (ONE_TILE && section == 1) {  // one division for three
            const int head = unsigned(tile) / unsigned(tiles_q);
            const int rest = tile - head * tiles_q;
            return make_int2(head, (RISING ? rest : tiles_q - 1 - rest) * BLOCK_Q);
        }
        const int first = tile / (section * tiles_q) * section, rest = tile % (section * tiles_q);
        const int width = min(section, heads - first);
        return make_int2(first + rest % width, (RISING ? rest / width : tiles_q - 1 - rest / width) * BLOCK_Q);
    }
    // `seqlen_q` rows, of which each head has `head_rows` (PACKED), or as many. LIFT: rows before the first are no rows.
    __device__ __forceinline__ Work(int2 place, int seqlen_q, int head_rows, int seqlen_k, int left, int right,
                                    int splits, const Tables&, const Lengths& lengths, int sequence_heads)
        : head(place.x), q0(place.y - (LIFTED ? (seqlen_k - seqlen_q) % 64 : 0)) {
        if (RAGGED) {
            const int sequence = head / (splits * sequence_heads);
            queries = head_rows = lengths.queries(sequence);
            keys = seqlen_k = lengths.keys(sequence);
            if (!PACKED) seqlen_q = queries;
        }
        const int first_row = PACKED ? 0 : q0, diagonal = seqlen_k - head_rows;
        const int last_row = PACKED ? head_rows - 1 : min(q0 + BLOCK_Q, seqlen_q) - 1;
        int end = RAGGED && first_row >= head_rows ? 0 : seqlen_k;
        begin = lower = 0;
        if (CAUSAL || WINDOW) end = min(end, last_row + 1 + diagonal + right);
        if (WINDOW) {
            begin = max(0, first_row + diagonal - left) / BLOCK_K;
            lower = last_row + diagonal - left;
        }
        last = end <= 0 ? -1 : (end - 1) / BLOCK_K;
        if (SPLIT) take_part(begin, last, head % splits, splits);
    }
};

// What one warpgroup's 64 rows need of a tile: key tiles from `last` down, keys before `end`; without a mask up to key
// `limit`.
struct Own {
    int last, limit, end;
    int whole;  // SPARSE
    // Whether they see no more of their first key tile, j, than its half, and need no mask in the next one.
    __device__ __forceinline__ bool half(int j) const {
        return HALVES && end - j * BLOCK_K <= HALF_KEYS && limit >= j * BLOCK_K;
    }
    __device__ __forceinline__ Own(const Work& work, int group, int seqlen_q, int head_rows, int seqlen_k, int right) {
        if (RAGGED) {
            head_rows = work.queries;
            seqlen_k = work.keys;
            if (!PACKED) seqlen_q = head_rows;
        }
        const int row = work.q0 + 64 * group, diagonal = seqlen_k - head_rows;
        const int first = PACKED ? 0 : row, rows = PACKED ? head_rows : min(row + 64, seqlen_q);
        last = work.last;
        limit = end = seqlen_k;
        if (CAUSAL || WINDOW) {
            end = min(seqlen_k, rows + diagonal + right);
            last = end <= 0 ? -1 : (end - 1) / BLOCK_K;
            if (SPLIT) last = min(last, work.last);
            limit = min(limit, first + 1 + diagonal + right);
        }
        if (row >= seqlen_q || last < work.begin) last = work.begin - 1;
    }
};
