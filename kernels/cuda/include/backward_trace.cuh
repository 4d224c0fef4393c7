// What a backward pass records after each tile, as backward_recording.cuh has it, where its warps hold products in fragments
// of mma.sync. Only with -DTRACE=1.
#pragma once
#include "backward.cuh"
#include "backward_recording.cuh"
#if TRACE

template <int BR, int BC>
struct TileRecorder : TileSlots<BR, BC> {
    using Slots = TileSlots<BR, BC>;
    explicit __device__ __forceinline__ TileRecorder(const BackwardRecording& given) : Slots(given) {}

    // A product with the keys as rows, P^T and the like: of the warp's keys from `key` on by the queries from `query` on.
    template <int MT, int COLUMNS>
    __device__ __forceinline__ void weights(float* target, const float (&x)[MT][COLUMNS][4], int key, int query) const {
        each(x, [&](int row, int column, float one) { this->put_weight(target, query + column, key + row, one); });
    }
    // The same with the queries as rows, from `query` on, by all keys of the tile.
    template <int MT, int COLUMNS>
    __device__ __forceinline__ void weights_of_rows(float* target, const float (&x)[MT][COLUMNS][4], int query) const {
        each(x, [&](int row, int column, float one) { this->put_weight(target, query + row, column, one); });
    }
    // The sum of dQ of the warp's queries from `query` on.
    template <int MT, int COLUMNS>
    __device__ __forceinline__ void query_rows(const float (&x)[MT][COLUMNS][4], int query) const {
        each(x, [&](int row, int column, float one) { this->put_query(query + row, column, one); });
    }
    // dK or dV of the warp's keys from `key` on, the columns from `first` on.
    template <int MT, int COLUMNS>
    __device__ __forceinline__ void key_rows(float* target, const float (&x)[MT][COLUMNS][4], int key, int first) const {
        each(x, [&](int row, int column, float one) { this->put_key(target, key + row, first + column, one); });
    }
    // What is added to dQ: 16 queries from `query` on by 8 columns.
    __device__ __forceinline__ void add_queries(const float (&x)[4], int query, int first) const {
#pragma unroll
        for (int c = 0; c < 4; ++c) this->put_query(query + row_of(c), first + column_of(c), x[c]);
    }
    // By all threads of a block.
    __device__ __forceinline__ void deltas(const RowState* states, int threads) const {
        for (int i = threadIdx.x; i < BR; i += threads) this->put_delta(i, states[i].delta);
    }

  private:
    static __device__ __forceinline__ int row_of(int c) { return threadIdx.x % 32 / 4 + c / 2 * 8; }
    static __device__ __forceinline__ int column_of(int c) { return threadIdx.x % 4 * 2 + c % 2; }
    template <int MT, int COLUMNS, typename Each>
    static __device__ __forceinline__ void each(const float (&x)[MT][COLUMNS][4], Each of) {
#pragma unroll
        for (int m = 0; m < MT; ++m) {
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) of(m * 16 + row_of(c), n * 8 + column_of(c), x[m][n][c]);
            }
        }
    }
};
#endif
