// What flash3's backward pass for wide heads records of a tile, as backward_recording.cuh has it: the first warpgroup P and
// dV, the second one dP, dS and dK, each block of a pair of its 64 keys, and each warpgroup its columns of dQ. dS is that of
// P rounded to 16 bits, as the kernel has it.
#pragma once
#include "backward_recording.cuh"
#include "flash3_backward_wide_products.cuh"
#if TRACE

// Of one thread.
struct Recorder : TileSlots<BLOCK_Q, BLOCK_K> {
    const int rank, row, seqlen_q, seqlen_k;  // of the block in its pair; the thread's first row of 64
    long long before = 0;                     // slot of the tile before
    int rows_before = 0;                      // of which are recorded
    int head = 0, place = 0;                  // of the tile that the second warpgroup takes next

    __device__ __forceinline__ Recorder(const BackwardRecording& given, int rank, int row, int seqlen_q, int seqlen_k)
        : TileSlots(given), rank(rank), row(row), seqlen_q(seqlen_q), seqlen_k(seqlen_k) {}
    __device__ __forceinline__ void begin(const Keys& keys, int group) { head = keys.head * group, place = keys.first; }
    __device__ __forceinline__ void tile(const Keys& keys, int group, int query_head, int q0) {
        before = slot, rows_before = rows;
        TileSlots::tile(keys.head, query_head - keys.head * group, q0, seqlen_q, keys.k0, seqlen_k);
    }
    __device__ __forceinline__ void next_tile(const Keys& keys, int group) {
        tile(keys, group, head, tile_at(place, keys, Tables()) * BLOCK_Q);
        advance(head, place, keys, group);
    }
    __device__ __forceinline__ void weights(float* target, const float (&x)[S_REGS]) const {
#pragma unroll
        for (int i = 0; i < S_REGS; ++i) put_weight(target, column_of(i), rank * ROWS + row_of(i), x[i]);
    }
    // `delta`: of the tile's first query.
    __device__ __forceinline__ void deltas(u32 delta) const {
        const int pair = threadIdx.x % 128;
        if (rank || pair >= BLOCK_Q / 2) return;
        const float2 two = load_pair(delta + pair * 8);
        put_delta(2 * pair, two.x);
        put_delta(2 * pair + 1, two.y);
    }
    // Columns of dK or dV from `first` on.
    template <int REGS>
    __device__ __forceinline__ void sums(float* target, const float (&x)[REGS], int first) const {
#pragma unroll
        for (int i = 0; i < REGS; ++i) put_key(target, rank * ROWS + row_of(i), first + column_of(i), x[i]);
    }
    // The part's 64 columns of what is added to dQ: of this tile, or of the one before.
    __device__ __forceinline__ void add_queries(const float (&dq)[DQ_REGS], int part, bool of_tile_before) const {
        TileSlots at = *this;
        if (of_tile_before) at.slot = before, at.rows = rows_before;
#pragma unroll
        for (int i = 0; i < DQ_REGS; ++i) at.put_query(row_of(i), part * 64 + column_of(i), dq[i]);
    }
    __device__ __forceinline__ void done() const {
        if (rank == 0 && threadIdx.x % 128 == 0) stamp();
    }

  private:
    __device__ __forceinline__ int row_of(int i) const { return row + 8 * (i / 2 % 2); }
    static __device__ __forceinline__ int column_of(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
};
#endif
