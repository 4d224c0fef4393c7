// What flash3's backward pass records of a tile, where warpgroups hold products in the registers of wgmma: as
// backward_recording.cuh has it.
#pragma once
#include "backward_recording.cuh"
#include "flash3_backward_weights.cuh"
#if TRACE

// Of one thread. The first warpgroup's dQ is a step behind: it is recorded in the slot of the tile before.
struct Recorder : TileSlots<BLOCK_Q, BLOCK_K> {
    long long before = 0;  // slot of the tile before
    int rows_before = 0;   // of which are recorded
    const int row;         // the thread's first of 64
    const int part;        // warpgroup

    __device__ __forceinline__ Recorder(const BackwardRecording& given, int part, int row)
        : TileSlots(given), row(row), part(part) {}
    __device__ __forceinline__ void tile(int kv_head, int head, int q0, int seqlen_q, int k0, int seqlen_k) {
        before = slot, rows_before = rows;
        TileSlots::tile(kv_head, head, q0, seqlen_q, k0, seqlen_k);
    }
    // P and dP, and dS as the kernel computes it from them. `delta`: of the thread's first query.
    __device__ __forceinline__ void weights(const float (&p)[S_REGS], const float (&dp)[S_REGS], u32 delta) const {
#pragma unroll 1
        for (int pair = 0; pair < BLOCK_Q / 8; ++pair) {
            const float2 d = load_pair(delta + pair * 32);
            const int query = pair * 8 + threadIdx.x % 4 * 2;
            if (part == 0 && row == 0) put_delta(query, d.x), put_delta(query + 1, d.y);
        }
#pragma unroll
        for (int i = 0; i < S_REGS; ++i) {
            const float2 d = load_pair(delta + i / 4 * 32);
            const int query = column_of(i), key = part * 64 + row_of(i);
            put_weight(to.p, query, key, p[i]);
            put_weight(to.dp, query, key, dp[i]);
            put_weight(to.ds, query, key, p[i] * (dp[i] - (i % 2 ? d.y : d.x)));
        }
    }
    __device__ __forceinline__ void sums(const float (&dk)[D_REGS], const float (&dv)[D_REGS]) const {
#pragma unroll
        for (int i = 0; i < D_REGS; ++i) {
            put_key(to.dk, part * 64 + row_of(i), column_of(i), dk[i]);
            put_key(to.dv, part * 64 + row_of(i), column_of(i), dv[i]);
        }
        if (threadIdx.x == 128) stamp();
    }
    // What this warpgroup adds to dQ: of this tile, or of the one before.
    __device__ __forceinline__ void add_queries(const float (&dq)[DQ_REGS], bool of_tile_before) const {
        TileSlots at = *this;
        if (of_tile_before) at.slot = before, at.rows = rows_before;
#pragma unroll
        for (int i = 0; i < DQ_REGS; ++i) {
            const int line = row_of(i), other = column_of(i);
            if (TURNED) at.put_query(other, part * 64 + line, dq[i]);
            else at.put_query(part % Q_PANELS * 64 + line, part % PANELS * 64 + other, dq[i]);
        }
    }

  private:
    __device__ __forceinline__ int row_of(int i) const { return row + 8 * (i / 2 % 2); }
    static __device__ __forceinline__ int column_of(int i) { return i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2; }
};
#endif
