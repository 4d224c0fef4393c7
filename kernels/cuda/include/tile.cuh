// Shapes of tiles, who computes what, and tiles from HBM to shared memory.
//
// 128 threads stand in 16 rows of 8. Thread (ty, tx) owns the tile rows ty, ty + 16, ... and, in a score tile, the
// columns tx, tx + 8, ...; in an output tile the groups of four columns 4 tx, 4 tx + 32, .... The eight threads of
// a row are neighbours in one warp, so a row's maximum and sum cost three shuffles. A shared row is its width + 4
// floats apart from the next: rows that one warp reads together then start in different banks.
#pragma once
#include "element.cuh"

constexpr int THREADS = 128;
constexpr int THREAD_ROWS = 16;
constexpr int THREAD_COLUMNS = 8;
constexpr int PAD = 4;

constexpr int round_up(int x, int step) { return (x + step - 1) / step * step; }

__device__ __forceinline__ int thread_row() { return threadIdx.x / THREAD_COLUMNS; }
__device__ __forceinline__ int thread_column() { return threadIdx.x % THREAD_COLUMNS; }

// Which shared row holds row r of the right operand of a score product. `Interleaved` gives thread tx the columns
// tx, tx + 8, ...; `Grouped` gives it groups of four neighbours, 4 tx + 0..3, 4 tx + 32 + 0..3, ..., which it can
// store to HBM in one access, while it still reads shared rows that are 8 apart.
struct Interleaved {
    static __device__ __forceinline__ int slot(int r) { return r; }
};
struct Grouped {
    static __device__ __forceinline__ int slot(int r) { return (r & ~31) + (r % 32) / 4 + 8 * (r % 4); }
};

// Copies ROWS x WIDTH elements to shared memory as floats times `factor`. Rows from `valid` on become zeros:
// they must be finite, since a probability of 0 times NaN is NaN.
template <int ROWS, int WIDTH, int STRIDE, typename Order = Interleaved>
__device__ __forceinline__ void load_tile(const element* source, long long source_stride, int valid, float* target,
                                          float factor = 1.0f) {
    constexpr int CHUNKS = WIDTH / VECTOR;
    static_assert(WIDTH % VECTOR == 0, "rows are read 16 bytes at a time");
#pragma unroll 4
    for (int c = threadIdx.x; c < ROWS * CHUNKS; c += THREADS) {
        const int row = c / CHUNKS, column = c % CHUNKS * VECTOR;
        Vector v{};
        if (row < valid) v = load_vector(source + row * source_stride + column);
        float* to = target + Order::slot(row) * STRIDE + column;
#pragma unroll
        for (int i = 0; i < VECTOR; i += 4) {
            *reinterpret_cast<float4*>(to + i) = make_float4(to_float(v.x[i]) * factor, to_float(v.x[i + 1]) * factor,
                                                             to_float(v.x[i + 2]) * factor, to_float(v.x[i + 3]) * factor);
        }
    }
}

// Writes zeros to the columns WIDTH to STRIDE - PAD of every row: a product may then run over them.
template <int ROWS, int WIDTH, int STRIDE>
__device__ __forceinline__ void clear_padding(float* target) {
    constexpr int EXTRA = STRIDE - PAD - WIDTH;
    if constexpr (EXTRA > 0) {
        for (int c = threadIdx.x; c < ROWS * EXTRA; c += THREADS) target[c / EXTRA * STRIDE + WIDTH + c % EXTRA] = 0.0f;
    }
}
