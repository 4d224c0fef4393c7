// Tiles of K and V by TMA: of an array, or of pages (ragged.cuh), which the producer finds in the page table.
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

    // A tile from key `first` on. Boxes behind the last key lie behind the page's last row, too: they arrive as zeros.
    __device__ __forceinline__ void load(u32 to, const TensorMap& map, u32 bar, int first) const {
        expect(bar, K_BYTES);
#pragma unroll 1  // the producer has few registers
        for (int i = 0; i < BLOCK_K; i += BOX, first += BOX) {
            const bool inside = first < keys;
            const int head = inside ? page_of(table, first) * kv_heads + kv_head : 0;
            const int row = inside ? unsigned(first) % PAGE_SIZE : PAGE_SIZE;
#pragma unroll
            for (int p = 0; p < PANELS; ++p) load_box(to + p * K_PANEL + i * 128, map, bar, 64 * p, row, head);
        }
    }
};
#define LOAD_KEYS(to, map, bar, key) pages.load(to, map, bar, key)
#else
#define LOAD_KEYS(to, map, bar, key) load_tile<PANELS>(to, K_PANEL, map, bar, key, kv)
#endif
