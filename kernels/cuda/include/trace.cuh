// What an instrumented kernel records after each tile (i, j). Only compiled with -DTRACE=1; the timed kernels
// contain none of it, see untraced.cuh. Tile (i, j) has slot i * tiles_k + j in every array; what is never visited keeps the
// caller's fill.
#pragma once
#include "simt_softmax.cuh"

struct Recording {
    float* s;         // (slots, BLOCK_Q, BLOCK_K), scaled and masked, natural units
    float* m;         // (slots, BLOCK_Q), natural units
    float* l;         // (slots, BLOCK_Q)
    float* alpha;     // (slots, BLOCK_Q)
    float* o;         // (slots, BLOCK_Q, HEAD_DIM)
    long long* t_ns;  // (slots)
    int* sm;          // (slots)
    int reverse;      // whether to walk over the keys from the last to the first
};

struct Recorder : Recording {
    int slot = 0;  // of the tile in hand
    int rows = 0;  // of it that exist

    explicit __device__ __forceinline__ Recorder(const Recording& given) : Recording(given) {}

    // The step of the walk that comes in place of this one of `steps`.
    __device__ __forceinline__ int turned(int step, int steps) const { return reverse ? steps - 1 - step : step; }

    __device__ __forceinline__ void stamp() const {
        if (threadIdx.x != 0) return;
        long long now;
        int id;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        t_ns[slot] = now;
        sm[slot] = id;
    }

    // A new tile: where it goes, its rows that exist, and its scores.
    __device__ __forceinline__ void scores(int new_slot, int new_rows, const float (&tile)[ROWS][COLUMNS],
                                           float factor) {
        slot = new_slot;
        rows = new_rows;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const int row = tile_row(i);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                const int column = tile_column(j);
                if (row < rows && column < BLOCK_K) {
                    s[(slot * BLOCK_Q + row) * BLOCK_K + column] = tile[i][j] * (factor * LN2);
                }
            }
        }
    }

    __device__ __forceinline__ void row(int i, float row_m, float row_l, float row_alpha) const {
        const int row = tile_row(i);
        if (row >= rows || row_lane() != 0) return;
        m[slot * BLOCK_Q + row] = row_m * LN2;
        l[slot * BLOCK_Q + row] = row_l;
        alpha[slot * BLOCK_Q + row] = row_alpha;
    }

    // `part`: this thread's part of l.
    __device__ __forceinline__ void row_in_parts(int i, float row_m, float part, float row_alpha) const {
        row(i, row_m, row_sum(part), row_alpha);
    }

    __device__ __forceinline__ void output(int i, const float (&acc)[OUTPUTS]) const {
        const int row = tile_row(i);
#pragma unroll
        for (int c = 0; c < OUTPUTS; ++c) {
            const int column = output_column(c);
            if (row < rows && column < HEAD_DIM) o[(slot * BLOCK_Q + row) * HEAD_DIM + column] = acc[c];
        }
    }

    __device__ __forceinline__ void outputs(const float (&acc)[ROWS][OUTPUTS]) const {
#pragma unroll
        for (int i = 0; i < ROWS; ++i) output(i, acc[i]);
    }
};
