// Tiles of K and V by TMA: of an array, or of pages (ragged.cuh), which the producer finds in the page table.
//
// A box is a page, or a part of one; where a tile is several, as many threads of a warp find and ask for one each. They
// look their pages up before they wait for room: one thread that took one page after the other kept the memory idle.
#pragma once
#include "flash3_lengths.cuh"
#include "tma.cuh"

#if PAGE_SIZE
struct Pages {
    static constexpr int BOX = PAGE_SIZE < BLOCK_K ? PAGE_SIZE : BLOCK_K;  // keys
    static_assert(BLOCK_K % PAGE_SIZE == 0 || PAGE_SIZE % BLOCK_K == 0, "whole pages, or parts of one");

    const int* table;  // of the sequence
    int kv_heads, kv_head, keys;

    // `kv`: the K/V head among those of all sequences.
    __device__ __forceinline__ Pages(const int* tables, int kv_heads, int kv, int seqlen_k, int keys)
        : table(tables + (long long)(kv / kv_heads) * (seqlen_k / PAGE_SIZE)), kv_heads(kv_heads),
          kv_head(kv % kv_heads), keys(keys) {}

    // This thread's box of the tile from key `first` on: x its row, y its head in the pool. Boxes behind the last key
    // lie behind the page's last row, too: they arrive as zeros.
    __device__ __forceinline__ int2 find(int first) const {
        const int key = first + threadIdx.x * BOX;
        if (key >= keys) return make_int2(PAGE_SIZE, 0);
        return make_int2(unsigned(key) % PAGE_SIZE, page_of(table, key) * kv_heads + kv_head);
    }
};
constexpr int LOADERS = BLOCK_K / Pages::BOX;  // threads of the producer
static_assert(LOADERS <= 32, "of one warp");

__device__ __forceinline__ void load_box_of(u32 to, const TensorMap& map, u32 bar, int2 box) {
    if (threadIdx.x == 0) expect(bar, K_BYTES);
    if (LOADERS > 1) __syncwarp((1ull << LOADERS) - 1);
#pragma unroll
    for (int p = 0; p < PANELS; ++p)
        load_box(to + p * K_PANEL + threadIdx.x * Pages::BOX * 128, map, bar, 64 * p, box.x, box.y);
}
// What one of the loaders does, whose result all of them need.
__device__ __forceinline__ int given_to_all(int x) { return __shfl_sync((1ull << LOADERS) - 1, x, 0); }
#define ONCE(call) given_to_all(threadIdx.x == 0 ? call : 0)
#define LOAD_KEYS(to, map, bar, key) load_box_of(to, map, bar, box)
#else
#define ONCE(call) call
#define LOAD_KEYS(to, map, bar, key) load_tile<PANELS>(to, K_PANEL, map, bar, key, kv)
#endif
