// What a kernel on the tensor cores records after each tile (i, j) of one head, where its warps hold S, O and l in fragments
// of mma.sync. Only included with -DTRACE=1: the kernels that are timed have none of it. Tile (i, j) has slot i * tiles_k + j
// in every array; what is never visited keeps the caller's fill. Needs TILE_Q, BLOCK_K, HEAD_DIM and SUBTILES.
#pragma once
#include "softmax.cuh"

struct Recording {
    float* s;         // (slots, TILE_Q, BLOCK_K), scaled and masked, natural units
    float* m;         // (slots, TILE_Q), the reference point of the exponents, natural units
    float* l;         // (slots, TILE_Q)
    float* alpha;     // (slots, TILE_Q)
    float* o;         // (slots, TILE_Q, HEAD_DIM), as the kernel holds it
    long long* t_ns;  // (slots)
    int* sm;          // (slots)
    int head;         // that is recorded, among the query heads of all sequences
};

struct Recorder : Recording {
    int warp_row;  // the warp's first row in the tile
    int rows;      // of the tile that are recorded: none of another head
    int slot = 0;  // of the tile in hand

    __device__ __forceinline__ Recorder(const Recording& given, int of_head, int warp_row, int rows)
        : Recording(given), warp_row(warp_row), rows(of_head == given.head ? rows : 0) {}

    __device__ __forceinline__ int row_of(int i, int r) const { return warp_row + i * 16 + threadIdx.x % 32 / 4 + 8 * r; }

    // A new tile, and its scores times `factor` in base 2.
    template <int COLUMNS>
    __device__ __forceinline__ void scores(int new_slot, const float (&tile)[SUBTILES][COLUMNS][4], float factor) {
        slot = new_slot;
        for_elements(tile, [&](int row, int column, float x) {
            s[((long long)slot * TILE_Q + row) * BLOCK_K + column] = x * (factor * LN2);
        });
    }

    __device__ __forceinline__ void row(int i, int r, float row_m, float row_l, float row_alpha) const {
        if (row_of(i, r) >= rows || threadIdx.x % 4 != 0) return;
        const long long at = (long long)slot * TILE_Q + row_of(i, r);
        m[at] = row_m == NO_MAXIMUM ? MINUS_INFINITY : row_m * LN2;
        l[at] = row_l;
        alpha[at] = row_alpha;
    }

    // `l`: this lane's part of it.
    __device__ __forceinline__ void state(const float (&row_m)[SUBTILES][2], const float (&row_l)[SUBTILES][2],
                                          const float (&row_alpha)[SUBTILES][2]) const {
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r) row(i, r, row_m[i][r], quad_sum(row_l[i][r]), row_alpha[i][r]);
        }
    }

    // A row of O that lies in memory; `place`: this lane's first pair of it, the next is 8 columns on.
    __device__ __forceinline__ void output_row(int i, int r, const float* place) const {
        if (row_of(i, r) >= rows) return;
        float* const target = o + ((long long)slot * TILE_Q + row_of(i, r)) * HEAD_DIM + threadIdx.x % 4 * 2;
        for (int n = 0; n < HEAD_DIM; n += 8) target[n] = place[n], target[n + 1] = place[n + 1];
    }

    template <int COLUMNS>
    __device__ __forceinline__ void output(const float (&acc)[SUBTILES][COLUMNS][4]) const {
        for_elements(acc, [&](int row, int column, float x) {
            if (column < HEAD_DIM) o[((long long)slot * TILE_Q + row) * HEAD_DIM + column] = x;
        });
        stamp();
    }

    __device__ __forceinline__ void stamp() const {
        if (threadIdx.x != 0 || rows <= 0) return;
        long long now;
        int id;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        t_ns[slot] = now;
        sm[slot] = id;
    }

    // Calls for each element of rows that exist: row and column in the tile, and the element.
    template <int COLUMNS, typename Each>
    __device__ __forceinline__ void for_elements(const float (&x)[SUBTILES][COLUMNS][4], Each each) const {
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    const int row = row_of(i, c / 2), column = n * 8 + threadIdx.x % 4 * 2 + c % 2;
                    if (row < rows) each(row, column, x[i][n][c]);
                }
            }
        }
    }
};
