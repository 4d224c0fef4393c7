// What a block of flash3 needs to ask for its boxes: where K and V lie, and, EARLY, what it asks for before its warps
// have met.
#pragma once
#if PAGE_SIZE
#include "flash3_pages.cuh"
#else
#include "flash3_arrays.cuh"
#endif

// The K/V head of a query head; without a group no division delays the first loads.
__device__ __forceinline__ int key_head(int head, int group_heads) {
    if (PACKED) return head;
    if (EARLY) return group_heads == 1 ? head : head / group_heads;
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
