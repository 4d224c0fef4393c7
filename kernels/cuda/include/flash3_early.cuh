// What a block of flash3 needs to ask for its boxes: where K and V lie, and, EARLY, what it asks for before its warps
// have met.
#pragma once
static_assert(!EARLY || !PAGE_SIZE, "by one thread");
#if PAGE_SIZE
#include "flash3_pages.cuh"
#else
#include "flash3_arrays.cuh"
#endif

// The K/V head of a query head; without a group no division delays the first loads.
__device__ __forceinline__ int key_head(int head, int group_heads) {
    if (PACKED) return head;
    if (ONE_TILE) return group_heads == 1 ? head : head / group_heads;
    return head / group_heads;
}

// EARLY: the rows of Q of one warpgroup, which starts when these are there.
__device__ __forceinline__ void load_part(const Shared& at, const TensorMap& map, int part, int row, int head) {
    constexpr u32 bytes = Q_PANEL / GROUPS;
    expect(at.q_full(0, part), PANELS * bytes);
#pragma unroll
    for (int p = 0; p < PANELS; ++p)
        load_box(at.q + p * Q_PANEL + part * bytes, map, at.q_full(0, part), 64 * p, row + 64 * part, head);
}
// EARLY: Q and the first keys of a block's first tile.
__device__ __forceinline__ void load_first(const Shared& at, const TensorMap& map_q, const TensorMap& map_k,
                                           const Work& work, int splits, int group_heads) {
    const int head = SPLIT ? work.head / splits : work.head, kv = key_head(head, group_heads);
    if constexpr (ONE_TILE) load_part(at, map_q, 0, work.q0, head);
    else load_tile<PANELS>(at.q, Q_PANEL, map_q, at.q_full(0), work.q0, head);
    load_keys(at.k, map_k, at.k_full(0), SPARSE ? __ldg(work.list + work.last) : work.last * BLOCK_K, kv, int2());
    if constexpr (ONE_TILE) {
#pragma unroll
        for (int part = 1; part < GROUPS; ++part) load_part(at, map_q, part, work.q0, head);
    }
}
