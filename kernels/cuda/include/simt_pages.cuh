// Where keys lie in pages, for simt: it is looked up in the page table.
#pragma once
#include "sequences.cuh"
#include "simt.cuh"

struct Pages {
    static constexpr int STRETCH = TILE_K < PAGE_SIZE ? TILE_K : PAGE_SIZE;  // keys of a tile that lie in one page

    const int* table;  // of the sequence
    int kv_heads, kv_head, keys;

    // Of a query head among those of all sequences; `group` of them share a K/V head.
    __device__ __forceinline__ Pages(const int* tables, int kv_heads, int head, int group, int sequence, int seqlen_k,
                                     int keys)
        : table(tables + (long long)sequence * (seqlen_k / PAGE_SIZE)), kv_heads(kv_heads),
          kv_head(head / group % kv_heads), keys(keys) {}

    // Where a key lies behind the first page of all.
    __device__ __forceinline__ long long offset(int key) const {
        const long long page = key < keys ? page_of(table, key) : 0;
        return ((page * kv_heads + kv_head) * PAGE_SIZE + key % PAGE_SIZE) * HEAD_DIM;
    }
};
