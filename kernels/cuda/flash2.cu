// flash2: O = softmax(QK^T) V with Q outer and K/V inner (FlashAttention-2, arXiv 2307.08691, Algorithm 1).
//
// Idea: one block owns TILE_Q query rows and walks over the keys. S and P exist only as one tile on the chip; m, l
// and an unnormalised O stay in registers until the end, when one division finishes the row.
// Changed from flash1: the loops are swapped. O, l and m never touch HBM while they grow, and every query tile is a
// block of its own, so that batch * heads * Nq / TILE_Q blocks fill the GPU instead of batch * heads.
// Limit: the FMA units. 4 Nq Nk d operations per head over 67 TFLOP/s (H200, float32); HBM sees little more than
// Q, K, V and O once.
// Known to be wrong with it: loads and arithmetic of one block do not overlap, only those of the two blocks
// that share an SM; 16-bit inputs are multiplied as floats, not on the tensor cores.
#include "product.cuh"
#include "softmax.cuh"
#if TRACE
#include "trace.cuh"
#endif

constexpr int ROWS = TILE_Q / THREAD_ROWS;
constexpr int COLUMNS = TILE_K / THREAD_COLUMNS;
constexpr int GROUPS = round_up(HEAD_DIM, 32) / 32;
constexpr int QK_STRIDE = HEAD_DIM + PAD;
constexpr int V_STRIDE = GROUPS * 32 + PAD;
constexpr int P_STRIDE = TILE_K + PAD;
constexpr int KP_FLOATS = TILE_K * QK_STRIDE > TILE_Q * P_STRIDE ? TILE_K * QK_STRIDE : TILE_Q * P_STRIDE;

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    flash2(const element* q, const element* k, const element* v, element* o, float* lse, int batch_heads, int seqlen_q,
           int seqlen_k, float scale_log2
#if TRACE
               TRACE_PARAMETERS
#endif
    ) {
#if TRACE
    Recorder recorder = MAKE_RECORDER;
#endif
    extern __shared__ __align__(16) float shared[];
    float* const shared_q = shared;                          // TILE_Q x HEAD_DIM
    float* const shared_kp = shared_q + TILE_Q * QK_STRIDE;  // K, then the probabilities
    float* const shared_v = shared_kp + KP_FLOATS;           // TILE_K x HEAD_DIM

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
    const int unmasked = mask.end(q0);  // tiles that end before it need no mask

    load_tile<TILE_Q, HEAD_DIM, QK_STRIDE>(q + q_row * HEAD_DIM, HEAD_DIM, rows, shared_q, scale_log2);
    clear_padding<TILE_K, HEAD_DIM, V_STRIDE>(shared_v);

    float m[ROWS], l[ROWS];  // l: this thread's columns only
    float4 acc[ROWS][GROUPS] = {};
#pragma unroll
    for (int i = 0; i < ROWS; ++i) m[i] = MINUS_INFINITY, l[i] = 0.0f;

    for (int step = 0; step < tiles_k; ++step) {
#if TRACE
        const int k0 = (reverse ? tiles_k - 1 - step : step) * BLOCK_K;
#else
        const int k0 = step * BLOCK_K;
#endif
        const int width = min(BLOCK_K, seqlen_k - k0);
        __syncthreads();  // the previous tile's probabilities and V are done with
        load_tile<TILE_K, HEAD_DIM, QK_STRIDE>(k + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_kp);
        load_tile<TILE_K, HEAD_DIM, V_STRIDE>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_v);
        __syncthreads();

        float s[ROWS][COLUMNS] = {};
        multiply_rows<HEAD_DIM, QK_STRIDE>(shared_q, shared_kp, s);
        if (k0 + TILE_K > unmasked || BLOCK_K < TILE_K) apply_mask(s, mask, q0, k0, width);
#if TRACE
        recorder.slot = tile_q * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + k0 / BLOCK_K;
        recorder.rows = rows;
        recorder.scores(s);
#endif
        __syncthreads();  // K is done with: the probabilities take its place

#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            float sum;
            const float alpha = update_row(s[i], m[i], sum);
            l[i] = fmaf(l[i], alpha, sum);
#pragma unroll
            for (int c = 0; c < GROUPS; ++c) {
                acc[i][c] = make_float4(acc[i][c].x * alpha, acc[i][c].y * alpha, acc[i][c].z * alpha, acc[i][c].w * alpha);
            }
#if TRACE
            recorder.row(thread_row() + THREAD_ROWS * i, m[i], row_sum(l[i]), alpha);
#endif
        }
        store_probabilities<P_STRIDE>(s, shared_kp);
        multiply_columns<TILE_K, P_STRIDE, V_STRIDE>(shared_kp, shared_v, acc);
#if TRACE
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
#pragma unroll
            for (int c = 0; c < GROUPS; ++c) {
                recorder.output(thread_row() + THREAD_ROWS * i, thread_column() * 4 + c * 32, acc[i][c]);
            }
        }
        recorder.stamp();
#endif
    }

#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = thread_row() + THREAD_ROWS * i;
        const float sum = row_sum(l[i]);
        if (row >= rows) continue;
        if (thread_column() == 0) lse[q_row + row] = log_sum_exp(m[i], sum);
        const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
#pragma unroll
        for (int c = 0; c < GROUPS; ++c) {
            const int column = thread_column() * 4 + c * 32;
            const float4 x = acc[i][c];
            if (column < HEAD_DIM) {
                store_four(o + (q_row + row) * HEAD_DIM + column,
                           make_float4(x.x * inverse, x.y * inverse, x.z * inverse, x.w * inverse));
            }
        }
    }
}
