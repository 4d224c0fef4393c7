// What an instrumented kernel records after each tile (i, j). Only compiled with -DTRACE=1; the timed kernels
// contain none of it. Tile (i, j) has slot i * tiles_k + j in every array; what is never visited keeps the
// caller's fill.
#pragma once
#include "simt_softmax.cuh"

#define TRACE_PARAMETERS                                                                                         \
    , float *trace_s, float *trace_m, float *trace_l, float *trace_alpha, float *trace_o, long long *trace_t_ns, \
        int *trace_sm, int reverse
#define MAKE_RECORDER Recorder{trace_s, trace_m, trace_l, trace_alpha, trace_o, trace_t_ns, trace_sm, 0, 0}

struct Recorder {
    float* s;         // (slots, BLOCK_Q, BLOCK_K), scaled and masked, natural units
    float* m;         // (slots, BLOCK_Q), natural units
    float* l;         // (slots, BLOCK_Q)
    float* alpha;     // (slots, BLOCK_Q)
    float* o;         // (slots, BLOCK_Q, HEAD_DIM)
    long long* t_ns;  // (slots)
    int* sm;          // (slots)
    int slot;         // of the tile in hand
    int rows;         // of it that exist

    __device__ __forceinline__ void stamp() const {
        if (threadIdx.x != 0) return;
        long long now;
        int id;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        t_ns[slot] = now;
        sm[slot] = id;
    }

    __device__ __forceinline__ void scores(const float (&tile)[ROWS][COLUMNS], float factor) const {
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

    __device__ __forceinline__ void output(int i, const float (&acc)[OUTPUTS]) const {
        const int row = tile_row(i);
#pragma unroll
        for (int c = 0; c < OUTPUTS; ++c) {
            const int column = output_column(c);
            if (row < rows && column < HEAD_DIM) o[(slot * BLOCK_Q + row) * HEAD_DIM + column] = acc[c];
        }
    }
};
