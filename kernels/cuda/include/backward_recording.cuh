// Where a backward pass with its recording compiled in (-DTRACE=1) leaves what a tile of queries and keys held, and who ran it.
#pragma once

struct BackwardRecording {
    float* p;         // (slots, TILE_Q, TILE_K)
    float* dp;        // (slots, TILE_Q, TILE_K)
    float* ds;        // (slots, TILE_Q, TILE_K), not yet rounded
    float* delta;     // (slots, TILE_Q)
    float* dq;        // (slots, TILE_Q, HEAD_DIM), what the tile adds
    float* dk;        // (slots, TILE_K, HEAD_DIM), the sum after the tile
    float* dv;        // (slots, TILE_K, HEAD_DIM)
    int* turn;        // (slots), which tile of its keys it was, from 1; 0: never visited
    long long* t_ns;  // (slots), when it ended
    int* sm;          // (slots)
    int kv_head;      // that is recorded, among those of all sequences
};

// The tile in hand.
template <int TILE_Q, int TILE_K>
struct TileSlots {
    const BackwardRecording& to;
    int turn = 0, rows = 0, keys = 0;  // of the tile that are recorded: none of another K/V head
    long long slot = 0;

    explicit __device__ __forceinline__ TileSlots(const BackwardRecording& given) : to(given) {}

    // The next tile of a block's keys from k0 on: query head `head` of the group, its queries from q0 on.
    __device__ __forceinline__ void tile(int kv_head, int head, int q0, int seqlen_q, int k0, int seqlen_k) {
        const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q, tiles_k = (seqlen_k + TILE_K - 1) / TILE_K;
        const bool shown = kv_head == to.kv_head;
        rows = shown ? min(TILE_Q, seqlen_q - q0) : 0;
        keys = shown ? min(TILE_K, seqlen_k - k0) : 0;
        slot = ((long long)head * tiles_q + q0 / TILE_Q) * tiles_k + k0 / TILE_K;
        ++turn;
    }
    __device__ __forceinline__ void put_weight(float* target, int query, int key, float x) const {
        if (query < rows && key < keys) target[(slot * TILE_Q + query) * TILE_K + key] = x;
    }
    __device__ __forceinline__ void put_key(float* target, int key, int column, float x) const {
        if (key < keys && column < HEAD_DIM) target[(slot * TILE_K + key) * HEAD_DIM + column] = x;
    }
    __device__ __forceinline__ void put_query(int query, int column, float x) const {
        if (query < rows && column < HEAD_DIM) to.dq[(slot * TILE_Q + query) * HEAD_DIM + column] = x;
    }
    __device__ __forceinline__ void put_delta(int query, float x) const {
        if (query < rows) to.delta[slot * TILE_Q + query] = x;
    }
    // By one thread.
    __device__ __forceinline__ void stamp() const {
        if (rows <= 0) return;
        long long now;
        int id;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        to.turn[slot] = turn;
        to.t_ns[slot] = now;
        to.sm[slot] = id;
    }
};
