// What surrounds flash3's backward pass: delta, LSE and zeros before it, and the stores of gradients. A thread holds of
// 64 rows what a product leaves it: of rows lane / 4 and 8 below, register i is column i / 4 * 8 + lane % 4 * 2 + i % 2.
#pragma once
#include "flash3_backward_turns.cuh"
#include "flash3_backward_zeros.cuh"
#include "launch_order.cuh"
#include "quad.cuh"

constexpr int ROW_THREADS = TURNED ? 4 * BLOCK_Q : 256, CHUNKS = BLOCK_Q * HEAD_DIM / VECTOR / ROW_THREADS;

// Times the factor, rounded. `out`: of the tensor's first column here; `row`: of this thread's first, of `rows`. WIDTH: of
// a row of the tensor, which may have but `columns` here.
template <int WIDTH = HEAD_DIM, int REGS>
__device__ __forceinline__ void store_rows(const float (&x)[REGS], float factor, element* out, int row, int rows,
                                           int columns = 2 * REGS) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
#pragma unroll
        for (int i = 0; i < REGS; i += 16) {
            u32 y[4];
#pragma unroll
            for (int j = 0; j < 4; ++j)
                y[j] = pack(x[i + 4 * j + 2 * r] * factor, x[i + 4 * j + 2 * r + 1] * factor);
            const uint4 piece = quad_transpose(y[0], y[1], y[2], y[3], lane);
            if (row + 8 * r < rows && (WIDTH == HEAD_DIM || i * 2 + lane % 4 * 8 < columns))
                *reinterpret_cast<uint4*>(out + (long long)(row + 8 * r) * WIDTH + i * 2 + lane % 4 * 8) = piece;
        }
    }
}

// A block's tile of queries. The last ones first: the launch in the middle takes heads from the first on, so that the L2
// still holds what it begins with, and afterwards what it ended with.
__device__ __forceinline__ int block_tile() { return gridDim.x - 1 - blockIdx.x; }

struct RowsArguments : Turns, ZeroCounters {};

// Before: a block a tile of queries. -LSE in base 2 and delta = rowsum(dO O) of its rows, and its sums of dQ become 0,
// as do the counter that key tiles are drawn from and those of additions. AHEAD: sums of the first heads alone, so many
// of Q's as `zeroed_heads`, and the counters of the others' (flash3_backward_zeros.cuh). Of a row that keeps no key, or
// does not exist, P becomes 0.
extern "C" __global__ void __launch_bounds__(ROW_THREADS)
    flash3_backward_rows(const element* o, const element* grad_output, const float* lse, float* states, float* dq_sums,
                         int* counter, int tiles_q, int seqlen_q, int zeroed_heads,
                         const __grid_constant__ RowsArguments given) {
    let_next_launch_begin();
    const int tile = block_tile();
    if (tile == 0 && threadIdx.x == 0) *counter = 0;
    if (DETERMINISTIC && threadIdx.x < PARTS) given.counters()[tile * PARTS + threadIdx.x] = 0;
    constexpr int PASS = ROW_THREADS / 8;  // rows at a time: 8 threads a row, each with a chunk of every panel
    const int thread_row = threadIdx.x / 8;
    const int head = tile / tiles_q, q0 = tile % tiles_q * BLOCK_Q, rows = min(BLOCK_Q, seqlen_q - q0);
    const long long first = (long long)head * seqlen_q + q0;
    float* const state = states + (long long)tile * STATE;
    Vector a[CHUNKS], b[CHUNKS];
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i) {
        const int row = min(i / PANELS * PASS + thread_row, rows - 1);
        const int column = i % PANELS * 64 + threadIdx.x % 8 * VECTOR;
        const long long at = (first + row) * HEAD_DIM_V + (NARROW_V ? min(column, HEAD_DIM_V - VECTOR) : column);
        a[i] = load_vector(o + at);
        b[i] = load_vector(grad_output + at);
    }
    if (AHEAD && q0 == 0 && threadIdx.x < 2) given.zero_counters()[head * 2 + threadIdx.x] = 0;
    float4* const sums = reinterpret_cast<float4*>(dq_sums + (long long)tile * BLOCK_Q * HEAD_DIM) + threadIdx.x;
    if (!AHEAD || head < zeroed_heads) {
#pragma unroll
        for (int i = 0; i < 2 * CHUNKS; ++i) sums[i * ROW_THREADS] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
#pragma unroll
    for (int i = 0; i < CHUNKS; i += PANELS) {
        const int row = i / PANELS * PASS + thread_row;
        float sum = 0.0f;
#pragma unroll
        for (int j = 0; j < PANELS * VECTOR; ++j)
            if (!NARROW_V || j / VECTOR * 64 + threadIdx.x % 8 * VECTOR < HEAD_DIM_V)
                sum = fmaf(to_float(a[i + j / VECTOR].x[j % VECTOR]), to_float(b[i + j / VECTOR].x[j % VECTOR]), sum);
#pragma unroll
        for (int other = 4; other > 0; other /= 2) sum += __shfl_xor_sync(~0u, sum, other);
        if (threadIdx.x % 8) continue;
        const float natural = row < rows ? lse[first + row] : MINUS_INFINITY;
        state[row] = natural == MINUS_INFINITY ? natural : -natural * LOG2E;
        state[BLOCK_Q + row] = row < rows ? sum : 0.0f;
    }
}

// What a thread holds of a part of the sums of dQ of the block's tile.
__device__ __forceinline__ void load_sums(float (&x)[DQ_REGS], const float* dq_sums, int tile, int part) {
    const float4* const sums =
        reinterpret_cast<const float4*>(dq_sums + ((long long)tile * PARTS + part) * DQ_PART) + threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < DQ_REGS / 4; ++i) *reinterpret_cast<float4*>(x + 4 * i) = sums[i * 128];
}

// After: a block a tile of queries. dQ from its sums, turned over in shared memory if they are.
extern "C" __global__ void __launch_bounds__(ROW_THREADS)
    flash3_backward_finish(const float* dq_sums, element* dq, int tiles_q, int seqlen_q, float scale) {
    const int tile = block_tile();
    const int head = tile / tiles_q, q0 = tile % tiles_q * BLOCK_Q;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x % 128 / 32 * 16;
    element* const own = dq + (long long)head * seqlen_q * HEAD_DIM;
    float x[DQ_REGS];
    wait_for_launch_before();
    if (!TURNED) {
        for (int part = threadIdx.x / 128; part < PARTS; part += ROW_THREADS / 128) {
            load_sums(x, dq_sums, tile, part);
            store_rows(x, scale, own + part % PANELS * 64, q0 + part % Q_PANELS * 64 + warp_row + lane / 4, seqlen_q);
        }
        return;
    }
    extern __shared__ __align__(1024) unsigned char raw[];
    element* const turned = reinterpret_cast<element*>(raw);
    constexpr int STRIDE = HEAD_DIM + VECTOR;  // of a row: neighbours are in other banks
    if (threadIdx.x < PARTS * 128) {
        const int part = threadIdx.x / 128, column = part * 64 + warp_row + lane / 4;
        load_sums(x, dq_sums, tile, part);
#pragma unroll
        for (int i = 0; i < DQ_REGS; ++i)
            turned[(i / 4 * 8 + lane % 4 * 2 + i % 2) * STRIDE + column + i / 2 % 2 * 8] = from_float(x[i] * scale);
    }
    __syncthreads();
    constexpr int ROW_CHUNKS = HEAD_DIM / VECTOR;
    for (int i = threadIdx.x; i < BLOCK_Q * ROW_CHUNKS; i += ROW_THREADS) {
        const int row = i / ROW_CHUNKS, column = i % ROW_CHUNKS * VECTOR;
        if (q0 + row < seqlen_q)
            store_vector(own + (long long)(q0 + row) * HEAD_DIM + column, load_vector(turned + row * STRIDE + column));
    }
}
