// The two products of attention on the tensor cores: 16-bit operands, float sums (sm_80 and newer).
//
// Four warps, each with TILE_Q / 4 rows in slabs of 16. In a slab lane l owns the rows l / 4 and l / 4 + 8, and of
// every eight columns the pair 2 (l % 4). That is how mma leaves its sums, and it is also how mma wants its left
// operand: P needs only rounding, not moving, before it meets V.
// A shared row is its width + 8 elements from the next: an odd number of 16-byte units, so that the eight rows of an
// 8 x 8 matrix lie in different banks.
#pragma once
#include "cp_async.cuh"
#include "mma.cuh"

using shared_element = element;
constexpr int THREADS = 128;
constexpr int ROW_LANES = 4;   // neighbours in a warp that share a row
constexpr int SCORE_RUN = 2;   // neighbouring score columns of one thread
constexpr int OUTPUT_RUN = 2;  // neighbouring output columns of one thread
constexpr int PAD = 8;         // of a shared row, in shared elements
constexpr int SLABS = TILE_Q / 64;
constexpr int ROWS = 2 * SLABS;
constexpr int COLUMNS = TILE_K / ROW_LANES;
constexpr int DEPTH_STEP = 16;                        // a product's depth is a multiple of it
constexpr int OUTPUT_WIDTH = round_up(HEAD_DIM, 16);  // columns of O that the threads cover
constexpr bool SHARES_K_AND_P = false;                // P never leaves the registers

__device__ __forceinline__ int row_lane() { return threadIdx.x % ROW_LANES; }
__device__ __forceinline__ int tile_row(int i) {
    return threadIdx.x / 32 * (16 * SLABS) + i / 2 * 16 + threadIdx.x % 32 / ROW_LANES + i % 2 * 8;
}

// Begins to copy ROWS_OF x WIDTH elements to shared memory. Rows from `valid` on and the columns up to PADDED become
// zeros: they must be finite, since a probability of 0 times NaN is NaN.
template <int ROWS_OF, int WIDTH, int PADDED>
__device__ __forceinline__ void load_tile(const element* source, int source_stride, int valid, element* target) {
    constexpr int CHUNKS = PADDED / VECTOR, STRIDE = PADDED + PAD;
    static_assert(WIDTH % VECTOR == 0, "rows are read 16 bytes at a time");
#pragma unroll
    for (int c = threadIdx.x; c < ROWS_OF * CHUNKS; c += THREADS) {
        const int row = c / CHUNKS, column = c % CHUNKS * VECTOR;
        const bool inside = row < valid && column < WIDTH;
        // Inside a tile 32 bits are enough: TILE_Q rows of P pass 2^31 elements at 16 million keys.
        copy_async(target + row * STRIDE + column, source + (inside ? row * source_stride + column : 0), inside);
    }
}

// This lane's row address of a 16 x 16 block for the left operand: rows first, then the right half.
template <int STRIDE>
__device__ __forceinline__ const element* left_block(const element* tile) {
    const int lane = threadIdx.x % 32;
    return tile + (threadIdx.x / 32 * 16 * SLABS + lane % 16) * STRIDE + lane / 16 * 8;
}

// s[i][j] += sum over k of a[row i][k] * b[column j][k]: rows of Q with rows of K.
template <int DEPTH, int STRIDE>
__device__ __forceinline__ void multiply_rows(const element* a, const element* b, float (&s)[ROWS][COLUMNS]) {
    const int lane = threadIdx.x % 32;
    a = left_block<STRIDE>(a);
    b += (lane % 8 + lane / 16 * 8) * STRIDE + lane / 8 % 2 * 8;
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        unsigned left[SLABS][4];
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab) load_matrices(left[slab], a + slab * 16 * STRIDE + k);
#pragma unroll
        for (int n = 0; n < TILE_K; n += 16) {
            unsigned right[4];
            load_matrices(right, b + n * STRIDE + k);
#pragma unroll
            for (int slab = 0; slab < SLABS; ++slab) {
                mma(&s[2 * slab][n / 4], &s[2 * slab + 1][n / 4], left[slab], right[0], right[1]);
                mma(&s[2 * slab][n / 4 + 2], &s[2 * slab + 1][n / 4 + 2], left[slab], right[2], right[3]);
            }
        }
    }
}

// acc += left (16 rows a slab, 16 deep) * v (16 deep), one step of PV; `v` is this lane's row address.
template <int V_STRIDE>
__device__ __forceinline__ void multiply_step(const unsigned (&left)[SLABS][4], const element* v,
                                              float (&acc)[ROWS][OUTPUT_WIDTH / ROW_LANES]) {
#pragma unroll
    for (int n = 0; n < OUTPUT_WIDTH; n += 16) {
        unsigned right[4];
        load_matrices_transposed(right, v + n);
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab) {
            mma(&acc[2 * slab][n / 4], &acc[2 * slab + 1][n / 4], left[slab], right[0], right[1]);
            mma(&acc[2 * slab][n / 4 + 2], &acc[2 * slab + 1][n / 4 + 2], left[slab], right[2], right[3]);
        }
    }
}

template <int V_STRIDE>
__device__ __forceinline__ const element* value_block(const element* v) {
    const int lane = threadIdx.x % 32;
    return v + lane % 16 * V_STRIDE + lane / 16 * 8;
}

// acc[i][c] += sum over k of p[row i][k] * v[k][output column c]: probabilities in shared memory with V.
template <int DEPTH, int P_STRIDE, int V_STRIDE>
__device__ __forceinline__ void multiply_columns(const element* p, const element* v,
                                                 float (&acc)[ROWS][OUTPUT_WIDTH / ROW_LANES]) {
    p = left_block<P_STRIDE>(p);
    v = value_block<V_STRIDE>(v);
#pragma unroll
    for (int k = 0; k < DEPTH; k += 16) {
        unsigned left[SLABS][4];
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab) load_matrices(left[slab], p + slab * 16 * P_STRIDE + k);
        multiply_step<V_STRIDE>(left, v + k * V_STRIDE, acc);
    }
}

// acc += PV with P in registers, rounded to the element type here.
template <int V_STRIDE>
__device__ __forceinline__ void multiply_probabilities(const float (&p)[ROWS][COLUMNS], element*, const element* v,
                                                       float (&acc)[ROWS][OUTPUT_WIDTH / ROW_LANES]) {
    v = value_block<V_STRIDE>(v);
#pragma unroll
    for (int k = 0; k < TILE_K; k += 16) {
        unsigned left[SLABS][4];
#pragma unroll
        for (int slab = 0; slab < SLABS; ++slab) {
            const float(&upper)[COLUMNS] = p[2 * slab];
            const float(&lower)[COLUMNS] = p[2 * slab + 1];
            left[slab][0] = pack(upper[k / 4], upper[k / 4 + 1]);
            left[slab][1] = pack(lower[k / 4], lower[k / 4 + 1]);
            left[slab][2] = pack(upper[k / 4 + 2], upper[k / 4 + 3]);
            left[slab][3] = pack(lower[k / 4 + 2], lower[k / 4 + 3]);
        }
        multiply_step<V_STRIDE>(left, v + k * V_STRIDE, acc);
    }
}
