// flash2: O = softmax(QK^T) V with Q outer and K/V inner (FlashAttention-2, arXiv 2307.08691, Algorithm 1).
//
// Idea: one block owns TILE_Q query rows and walks over the keys. S and P exist only as one tile on the chip; m, l
// and an unnormalised O stay in registers until the end, when one division finishes the row.
// Changed from flash1: the loops are swapped. O, l and m never touch HBM while they grow, and every query tile is a
// block of its own, so that batch * heads * Nq / TILE_Q blocks fill the GPU instead of batch * heads.
// Limit: arithmetic. 4 Nq Nk d operations a head over the rate of the unit that multiplies: on an H200 67 TFLOP/s
// for float32 on the FMA units, and for 16 bits an estimated 600 of the tensor cores' 990, which is what mma.sync reaches.
// HBM sees little more than Q, K, V and O once.
// Known to be wrong with it: softmax and products of one warp take turns; only other warps fill the gaps.
#include "softmax.cuh"
#if TRACE
#include "trace.cuh"
#endif

constexpr int K_SIZE = TILE_K * QK_STRIDE, P_SIZE = SHARES_K_AND_P ? TILE_Q * P_STRIDE : 0;

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    flash2(const element* q, const element* k, const element* v, element* o, float* lse, int batch_heads, int seqlen_q,
           int seqlen_k, float factor
#if TRACE
               TRACE_PARAMETERS
#endif
    ) {
#if TRACE
    Recorder recorder = MAKE_RECORDER;
#endif
    extern __shared__ __align__(16) unsigned char shared[];
    shared_element* const shared_q = reinterpret_cast<shared_element*>(shared);  // TILE_Q x HEAD_DIM
    shared_element* const shared_k = shared_q + TILE_Q * QK_STRIDE;              // TILE_K x HEAD_DIM; P may follow it
    shared_element* const shared_v = shared_k + (K_SIZE > P_SIZE ? K_SIZE : P_SIZE);

    // Causal rows get longer downwards: the longest tiles of all heads start first, the short ones fill the end.
    const int tiles_q = gridDim.x / batch_heads;
#if CAUSAL
    const int head = blockIdx.x % batch_heads, tile_q = tiles_q - 1 - blockIdx.x / batch_heads;
#else
    const int head = blockIdx.x / tiles_q, tile_q = blockIdx.x % tiles_q;
#endif
    const int q0 = tile_q * BLOCK_Q;
    const int rows = min(BLOCK_Q, seqlen_q - q0);
    const long long q_row = (long long)head * seqlen_q + q0;
    k += (long long)head * seqlen_k * HEAD_DIM;
    v += (long long)head * seqlen_k * HEAD_DIM;

    const Mask mask{seqlen_k, seqlen_k - seqlen_q};
    const int keys = max(0, mask.end(q0 + rows - 1));  // the last row sees the most
    const int tiles_k = (keys + BLOCK_K - 1) / BLOCK_K;
    auto first_key = [&](int step) {
#if TRACE
        if (reverse) step = tiles_k - 1 - step;
#endif
        return step * BLOCK_K;
    };
    auto load_k = [&](int k0) {
        load_tile<TILE_K, HEAD_DIM, HEAD_DEPTH>(k + (long long)k0 * HEAD_DIM, HEAD_DIM, min(BLOCK_K, seqlen_k - k0), shared_k);
    };
    auto load_v = [&](int k0) {
        load_tile<TILE_K, HEAD_DIM, OUTPUT_WIDTH>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, min(BLOCK_K, seqlen_k - k0), shared_v);
    };

    load_tile<TILE_Q, HEAD_DIM, HEAD_DEPTH>(q + q_row * HEAD_DIM, HEAD_DIM, rows, shared_q);
    if (!SHARES_K_AND_P && tiles_k > 0) load_k(first_key(0));
    end_group();

    float m[ROWS], l[ROWS];  // l: this thread's columns only
    float acc[ROWS][OUTPUTS] = {};
#pragma unroll
    for (int i = 0; i < ROWS; ++i) m[i] = MINUS_INFINITY, l[i] = 0.0f;

    for (int step = 0; step < tiles_k; ++step) {
        const int k0 = first_key(step);
        if constexpr (SHARES_K_AND_P) {
            __syncthreads();  // the previous probabilities and V are done with
            load_k(k0);
            load_v(k0);
            end_group();
            wait_for_groups<0>();
            __syncthreads();
        } else {
            wait_for_groups<0>();
            __syncthreads();  // K is there, the previous V is done with
            load_v(k0);
            end_group();
        }

        float s[ROWS][COLUMNS] = {};
        compute_scores(shared_q, shared_k, s, mask, q0, k0, min(BLOCK_K, seqlen_k - k0));
#if TRACE
        recorder.slot = tile_q * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + k0 / BLOCK_K;
        recorder.rows = rows;
        recorder.scores(s, factor);
#endif
        wait_for_groups<0>();
        __syncthreads();  // V is there, K is done with
        if (!SHARES_K_AND_P && step + 1 < tiles_k) load_k(first_key(step + 1));
        end_group();

#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            float sum;
            const float alpha = update_row(s[i], factor, m[i], sum);
            l[i] = fmaf(l[i], alpha, sum);
#pragma unroll
            for (int c = 0; c < OUTPUTS; ++c) acc[i][c] *= alpha;
#if TRACE
            recorder.row(i, m[i], row_sum(l[i]), alpha);
#endif
        }
        multiply_probabilities<V_STRIDE>(s, shared_k, shared_v, acc);
#if TRACE
#pragma unroll
        for (int i = 0; i < ROWS; ++i) recorder.output(i, acc[i]);
        recorder.stamp();
#endif
    }

#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = tile_row(i);
        const float sum = row_sum(l[i]);
        if (row >= rows) continue;
        if (row_lane() == 0) lse[q_row + row] = log_sum_exp(m[i], sum);
        store_row(o + (q_row + row) * HEAD_DIM, acc[i], sum > 0.0f ? 1.0f / sum : 0.0f);
    }
}
