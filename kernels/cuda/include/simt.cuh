// The two products of attention on the FMA units: register micro-tiles, exact float arithmetic, any GPU.
//
// 128 threads stand in 16 rows of 8. Thread (ty, tx) owns the tile rows ty, ty + 16, ..., in a score tile the columns
// tx, tx + 8, ..., in an output tile the runs of four columns 4 tx, 4 tx + 32, .... Every value read from shared
// memory feeds as many multiply-adds as the thread has rows or columns, so that the FMA units set the pace.
// Tiles are floats in shared memory whatever the inputs are; a shared row is its width + 4 floats from the next, so
// that rows which one warp reads together start in different banks.
#pragma once
#include "async_copy.cuh"
#include "element.cuh"

constexpr int THREADS = 128;
constexpr int ROW_LANES = 8;   // neighbours in a warp that share a row
constexpr int OUTPUT_RUN = 4;  // neighbouring output columns of one thread
constexpr int PAD = 4;         // of a shared row, in floats
constexpr int THREAD_ROWS = THREADS / ROW_LANES;
constexpr int ROWS = TILE_Q / THREAD_ROWS;
constexpr int COLUMNS = TILE_K / ROW_LANES;
constexpr int DEPTH_STEP = 4;                         // a product's depth is a multiple of it
constexpr int OUTPUT_WIDTH = round_up(HEAD_DIM, 32);  // columns of O that the threads cover

constexpr int OUTPUTS = OUTPUT_WIDTH / ROW_LANES;  // of one row in one thread
constexpr int HEAD_DEPTH = round_up(HEAD_DIM, DEPTH_STEP);
constexpr int QK_STRIDE = HEAD_DEPTH + PAD;
constexpr int V_STRIDE = OUTPUT_WIDTH + PAD;
constexpr int P_STRIDE = TILE_K + PAD;

__device__ __forceinline__ int row_lane() { return threadIdx.x % ROW_LANES; }
__device__ __forceinline__ int tile_row(int i) { return threadIdx.x / ROW_LANES + THREAD_ROWS * i; }
// The tile's column of a thread's j-th score, and the column of O of its c-th sum.
__device__ __forceinline__ int tile_column(int j) { return row_lane() + j * ROW_LANES; }
__device__ __forceinline__ int output_column(int c) {
    return OUTPUT_RUN * row_lane() + c / OUTPUT_RUN * (OUTPUT_RUN * ROW_LANES) + c % OUTPUT_RUN;
}

// Copies ROWS_OF x WIDTH elements to shared memory as floats. Rows from `valid` on and the columns up to PADDED
// become zeros: they must be finite, since a probability of 0 times NaN is NaN.
template <int ROWS_OF, int WIDTH, int PADDED>
__device__ __forceinline__ void load_tile(const element* source, long long source_stride, int valid, float* target) {
    constexpr int CHUNKS = WIDTH / VECTOR, STRIDE = PADDED + PAD, EXTRA = PADDED - WIDTH;
    static_assert(WIDTH % VECTOR == 0, "rows are read 16 bytes at a time");
#pragma unroll 4
    for (int c = threadIdx.x; c < ROWS_OF * CHUNKS; c += THREADS) {
        const int row = c / CHUNKS, column = c % CHUNKS * VECTOR;
        float* const to = target + row * STRIDE + column;
        const element* const from = source + row * source_stride + column;
        if constexpr (sizeof(element) == sizeof(float)) {
            copy_chunk(shared_address(to), row < valid ? from : source, row < valid);
        } else {
            Vector v{};
            if (row < valid) v = load_vector(from);
#pragma unroll
            for (int i = 0; i < VECTOR; ++i) to[i] = to_float(v.x[i]);
        }
    }
    if constexpr (EXTRA > 0) {
        for (int c = threadIdx.x; c < ROWS_OF * EXTRA; c += THREADS)
            target[c / EXTRA * STRIDE + WIDTH + c % EXTRA] = 0.0f;
    }
}

__device__ __forceinline__ float4 load_four(const float* source) { return *reinterpret_cast<const float4*>(source); }

// s[i][j] += sum over k of a[row i][k] * b[column j][k]: rows of Q with rows of K.
template <int DEPTH, int STRIDE>
__device__ __forceinline__ void multiply_rows(const float* a, const float* b, float (&s)[ROWS][COLUMNS]) {
    a += threadIdx.x / ROW_LANES * STRIDE;
    b += row_lane() * STRIDE;
#pragma unroll 1
    for (int k = 0; k < DEPTH; k += 4) {
        float4 right[COLUMNS];
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) right[j] = load_four(b + j * ROW_LANES * STRIDE + k);
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            const float4 left = load_four(a + i * THREAD_ROWS * STRIDE + k);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) s[i][j] = fmaf(left.x, right[j].x, s[i][j]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) s[i][j] = fmaf(left.y, right[j].y, s[i][j]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) s[i][j] = fmaf(left.z, right[j].z, s[i][j]);
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) s[i][j] = fmaf(left.w, right[j].w, s[i][j]);
        }
    }
}

// acc[i][c] += sum over k of p[row i][k] * v[k][output column c]: probabilities in shared memory with V.
template <int DEPTH, int LEFT_STRIDE>
__device__ __forceinline__ void multiply_columns(const float* p, const float* v, float (&acc)[ROWS][OUTPUTS]) {
    constexpr int GROUPS = OUTPUT_WIDTH / 32;
    p += threadIdx.x / ROW_LANES * LEFT_STRIDE;
    v += row_lane() * OUTPUT_RUN;
#pragma unroll 1
    for (int k = 0; k < DEPTH; k += 4) {
        float4 left[ROWS];
#pragma unroll
        for (int i = 0; i < ROWS; ++i) left[i] = load_four(p + i * THREAD_ROWS * LEFT_STRIDE + k);
#pragma unroll
        for (int step = 0; step < 4; ++step) {
            float4 right[GROUPS];
#pragma unroll
            for (int c = 0; c < GROUPS; ++c) right[c] = load_four(v + (k + step) * V_STRIDE + c * 32);
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const float x = step == 0 ? left[i].x : step == 1 ? left[i].y : step == 2 ? left[i].z : left[i].w;
#pragma unroll
                for (int c = 0; c < GROUPS; ++c) {
                    acc[i][4 * c] = fmaf(x, right[c].x, acc[i][4 * c]);
                    acc[i][4 * c + 1] = fmaf(x, right[c].y, acc[i][4 * c + 1]);
                    acc[i][4 * c + 2] = fmaf(x, right[c].z, acc[i][4 * c + 2]);
                    acc[i][4 * c + 3] = fmaf(x, right[c].w, acc[i][4 * c + 3]);
                }
            }
        }
    }
}

// acc += PV with P in registers. It changes hands through shared memory; the eight threads that read a row are those
// that wrote it, in one warp.
__device__ __forceinline__ void multiply_probabilities(const float (&p)[ROWS][COLUMNS], float* shared_p, const float* v,
                                                       float (&acc)[ROWS][OUTPUTS]) {
    float* const target = shared_p + threadIdx.x / ROW_LANES * P_STRIDE + row_lane();
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) target[i * THREAD_ROWS * P_STRIDE + j * ROW_LANES] = p[i][j];
    }
    __syncwarp();
    multiply_columns<TILE_K, P_STRIDE>(shared_p, v, acc);
}

template <typename T>
struct alignas(OUTPUT_RUN * sizeof(T)) Run {
    T x[OUTPUT_RUN];
};

// This thread's part of one row of O, times `factor`, in accesses of a run each.
__device__ __forceinline__ void store_row(element* row, const float (&acc)[OUTPUTS], float factor) {
#pragma unroll
    for (int c = 0; c < OUTPUTS; c += OUTPUT_RUN) {
        if (output_column(c) >= HEAD_DIM) continue;
        Run<element> run;
#pragma unroll
        for (int i = 0; i < OUTPUT_RUN; ++i) run.x[i] = from_float(acc[c + i] * factor);
        *reinterpret_cast<Run<element>*>(row + output_column(c)) = run;
    }
}
