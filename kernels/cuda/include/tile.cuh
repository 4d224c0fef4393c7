// A tile's products on the units chosen by -D, and what does not depend on them: which column is whose, rows of O
// to HBM. Both units offer the same names, so that a kernel is written once.
#pragma once
#if TENSOR_CORES
#include "tensor.cuh"
#else
#include "simt.cuh"
#endif

constexpr int OUTPUTS = OUTPUT_WIDTH / ROW_LANES;    // of one row in one thread
constexpr int HEAD_DEPTH = round_up(HEAD_DIM, DEPTH_STEP);
constexpr int QK_STRIDE = HEAD_DEPTH + PAD;
constexpr int V_STRIDE = OUTPUT_WIDTH + PAD;
constexpr int P_STRIDE = TILE_K + PAD;

// The tile's column of a thread's j-th score.
__device__ __forceinline__ int tile_column(int j) {
    return SCORE_RUN * row_lane() + j / SCORE_RUN * (SCORE_RUN * ROW_LANES) + j % SCORE_RUN;
}

// The column of O of a thread's c-th sum.
__device__ __forceinline__ int output_column(int c) {
    return OUTPUT_RUN * row_lane() + c / OUTPUT_RUN * (OUTPUT_RUN * ROW_LANES) + c % OUTPUT_RUN;
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
