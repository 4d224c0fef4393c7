// Before flash2's backward pass and after it: LSE and delta of every row; sums of dQ, and dQ from them.
//
// The sums lie as a product leaves them, 128 floats for 16 queries by 8 columns, so that the additions of a warp are
// neighbours in HBM: of a lane four at once where such an addition exists, else a register of all lanes at a time.
#pragma once
#include "flash2_backward_layout.cuh"

constexpr int ROW_LANES = power_of_two((HEAD_DIM > HEAD_DIM_V ? HEAD_DIM : HEAD_DIM_V) / VECTOR);  // threads on one row

// The fragment of the queries 16 row .. and the columns 8 column .. of the padded queries of all heads.
__device__ __forceinline__ float* fragment(float* dq_sums, long long row, int column) {
    return dq_sums + (row * (HEAD_DIM / 8) + column) * 128;
}
__device__ __forceinline__ void add_fragment(float* sums, const float (&x)[4], int lane) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sums + lane * 4), "f"(x[0]), "f"(x[1]),
                 "f"(x[2]), "f"(x[3])
                 : "memory");
#else
#pragma unroll
    for (int c = 0; c < 4; ++c) atomicAdd(sums + c * 32 + lane, x[c]);
#endif
}
// What the four lanes 4 row .. have of it: the rows `row` and `row` + 8.
__device__ __forceinline__ void load_quad(float (&x)[4][4], const float* sums, int row) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#if __CUDA_ARCH__ >= 900
        const float4 y = reinterpret_cast<const float4*>(sums)[row * 4 + i];
        x[i][0] = y.x, x[i][1] = y.y, x[i][2] = y.z, x[i][3] = y.w;
#else
        const float4 y = reinterpret_cast<const float4*>(sums)[row + i * 8];
        x[0][i] = y.x, x[1][i] = y.y, x[2][i] = y.z, x[3][i] = y.w;
#endif
    }
}

// Before: LSE in base 2 and delta = rowsum(dO O) of every padded row; dQ's sums, where there are any, become 0.
extern "C" __global__ void flash2_backward_rows(const element* o, const element* grad_output, const float* lse,
                                                RowState* states, float* dq_sums, int seqlen_q, long long rows) {
    const long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / ROW_LANES;
    const int q = int(row % padded(seqlen_q)), column = threadIdx.x % ROW_LANES * VECTOR;
    const long long given = row / padded(seqlen_q) * seqlen_q + q;
    const bool exists = row < rows && q < seqlen_q;
    float delta = 0.0f;
    if (exists && column < HEAD_DIM_V) {
        const long long at = given * HEAD_DIM_V + column;
        const Vector a = load_vector(o + at), b = load_vector(grad_output + at);
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) delta = fmaf(to_float(a.x[i]), to_float(b.x[i]), delta);
    }
#pragma unroll
    for (int other = ROW_LANES / 2; other > 0; other /= 2) delta += __shfl_xor_sync(0xffffffffu, delta, other);
    if (row >= rows) return;
    if (column == 0) states[row] = RowState::of(exists ? lse[given] : MINUS_INFINITY, delta);
    if (dq_sums == nullptr || column >= HEAD_DIM) return;
    float4* const sums = reinterpret_cast<float4*>(dq_sums + row * HEAD_DIM + column);
    sums[0] = sums[1] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
}

// After: one thread for eight columns of two rows of dQ: times the scale, to the element type.
extern "C" __global__ void flash2_backward_finish(const float* sums, element* dq, int seqlen_q, float scale,
                                                  long long pairs) {
    const long long pair = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (pair >= pairs) return;
    constexpr int COLUMNS = HEAD_DIM / 8;
    const int column = int(pair % COLUMNS), row = int(pair / COLUMNS % 8), tiles = padded(seqlen_q) / 16;
    const long long tile = pair / (8 * COLUMNS);
    const int q = int(tile % tiles) * 16 + row;
    float x[4][4];
    load_quad(x, sums + (tile * COLUMNS + column) * 128, row);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        unsigned y[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) y[i] = pack(x[i][2 * r] * scale, x[i][2 * r + 1] * scale);
        if (q + 8 * r < seqlen_q) {
            element* const out = dq + (tile / tiles * seqlen_q + q + 8 * r) * HEAD_DIM + column * 8;
            *reinterpret_cast<uint4*>(out) = make_uint4(y[0], y[1], y[2], y[3]);
        }
    }
}
