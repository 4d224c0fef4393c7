// Which keys a block of flash2's backward pass owns, and which tiles of queries it passes by.
#pragma once
#include "flash2_backward_layout.cuh"

// The block's K/V head and first key. `together` heads are taken at a time, tile after tile: under the causal mask the
// first keys are seen by most queries, so that the longest blocks begin first.
struct Owned {
    int kv_head, k0, seqlen_k;
    __device__ __forceinline__ int keys() const { return min(KEYS, seqlen_k - k0); }
    __device__ __forceinline__ long long first() const { return ((long long)kv_head * seqlen_k + k0) * HEAD_DIM; }
    __device__ __forceinline__ long long first_value() const { return ((long long)kv_head * seqlen_k + k0) * HEAD_DIM_V; }

    static __device__ __forceinline__ Owned of(int block, int kv_heads, int together, int seqlen_k) {
        const int tiles = (seqlen_k + KEYS - 1) / KEYS, section = block / (together * tiles) * together;
        const int heads = min(together, kv_heads - section), in_section = block - section * tiles;
        return Owned{section + in_section % heads, in_section / heads * KEYS, seqlen_k};
    }
};

// Registers are short: after the loop a block computes again what it owns, from a number that the compiler takes for
// another than blockIdx.x.
__device__ __forceinline__ int block_again() {
    int block = blockIdx.x;
    asm volatile("" : "+r"(block));
    return block;
}

// The tiles of queries that see the block's keys, in all heads of the group.
struct Walk {
    const Mask& mask;
    const int* const kept;
    const int seqlen_q, k0, last_head;
    int head, q0;

    __device__ __forceinline__ Walk(const Mask& mask, const int* kept, int seqlen_q, const Owned& owned, int group)
        : mask(mask),
          kept(kept),
          seqlen_q(seqlen_q),
          k0(owned.k0),
          last_head(owned.kv_head * group + group - 1),
          head(owned.kv_head * group),
          q0(0) {
        find();
    }
    __device__ __forceinline__ bool more() const { return head <= last_head; }
    __device__ __forceinline__ int rows() const { return min(QUERIES, seqlen_q - q0); }
    __device__ __forceinline__ void next() {
        q0 += QUERIES;
        find();
    }

  private:
    __device__ __forceinline__ void find() {
        for (; more(); ++head, q0 = 0) {
            for (; q0 < seqlen_q; q0 += QUERIES) {
                if (meet(mask, kept, q0, q0 + rows() - 1, k0, KEYS)) return;
            }
        }
    }
};
