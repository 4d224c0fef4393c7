// Tiles of K and V by TMA, from pages (ragged.cuh), which the producer finds in the page table; flash3_arrays.cuh takes
// them from arrays.
//
// A box is a page, or a part of one; where a tile is several, as many threads of a warp find and ask for one each. They
// look their pages up before they wait for room: one thread that took one page after the other kept the memory idle.
#pragma once
#include "flash3_layout.cuh"
#include "tma.cuh"

constexpr int BOX = PAGE_SIZE < BLOCK_K ? PAGE_SIZE : BLOCK_K;  // keys
constexpr int LOADERS = BLOCK_K / BOX;                          // threads of the producer
static_assert(BLOCK_K % PAGE_SIZE == 0 || PAGE_SIZE % BLOCK_K == 0, "whole pages, or parts of one");
static_assert(LOADERS <= 32, "of one warp");

struct PageTable {  // what a launch is given of pages
    const int* page_table;
    int kv_heads;
};

struct Pages {
    const int* table;  // of the sequence
    int kv_heads, kv_head, keys;

    // `kv`: the K/V head among those of all sequences; `seqlen_k`: keys that a row of the table has room for.
    __device__ __forceinline__ Pages(const PageTable& given, int kv, int seqlen_k, int keys)
        : table(given.page_table + (long long)(kv / given.kv_heads) * (seqlen_k / PAGE_SIZE)),
          kv_heads(given.kv_heads), kv_head(kv % given.kv_heads), keys(keys) {}

    // This thread's box of the tile from key `first` on: x its row, y its head in the pool. Boxes behind the last key
    // lie behind the page's last row, too: they arrive as zeros.
    __device__ __forceinline__ int2 find(int first) const {
        const int key = first + threadIdx.x * BOX;
        if (key >= keys) return make_int2(PAGE_SIZE, 0);
        return make_int2(unsigned(key) % PAGE_SIZE, page_of(table, key) * kv_heads + kv_head);
    }
};

template <int panels = PANELS>  // of K, or of V
__device__ __forceinline__ void load_keys(u32 to, const TensorMap& map, u32 bar, int, int, int2 box) {
    if (threadIdx.x == 0) expect(bar, panels * K_PANEL);
    if (LOADERS > 1) __syncwarp((1ull << LOADERS) - 1);
#pragma unroll
    for (int p = 0; p < panels; ++p)
        load_box(to + p * K_PANEL + threadIdx.x * BOX * 128, map, bar, 64 * p, box.x, box.y);
}
// One of the loaders draws, and all of them need the tile.
__device__ __forceinline__ int draw_tile(int* counter) {
    return __shfl_sync((1ull << LOADERS) - 1, threadIdx.x == 0 ? atomicAdd(counter, 1) : 0, 0);
}
