// flash1: O = softmax(QK^T) V with K/V outer and Q inner (FlashAttention, arXiv 2205.14135, Algorithm 1).
//
// Idea: one block owns one head. It holds a tile of K and V and passes all query tiles by it; each pass reads that
// tile's O, l and m from HBM, adds what these keys contribute, normalises, and writes them back.
// Changed from standard: S and P exist only as one tile on the chip, so memory grows with N, not N^2.
// Limit: latency. O (float), l and m cross HBM or L2 once per key tile: Nk / TILE_K times 8 Nq d bytes and more.
// Known to be wrong with it: the loop order. Only batch * heads blocks run, and O is read and written again and again;
// flash2 swaps the loops.
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

// The running O is float whatever the inputs are: rounding it to 16 bits after every tile would add up.
__device__ __forceinline__ float4 scaled(float4 x, float f) { return make_float4(x.x * f, x.y * f, x.z * f, x.w * f); }

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash1(const element* q, const element* k, const element* v, float* o, float* m, float* l, int seqlen_q,
           int seqlen_k, float scale_log2
#if TRACE
               TRACE_PARAMETERS
#endif
    ) {
#if TRACE
    Recorder recorder = MAKE_RECORDER;
#endif
    extern __shared__ __align__(16) float shared[];
    float* const shared_q = shared;                              // TILE_Q x HEAD_DIM
    float* const shared_k = shared_q + TILE_Q * QK_STRIDE;       // TILE_K x HEAD_DIM
    float* const shared_v = shared_k + TILE_K * QK_STRIDE;       // TILE_K x HEAD_DIM
    float* const shared_p = shared_v + TILE_K * V_STRIDE;        // TILE_Q x TILE_K

    const long long head = blockIdx.x;
    q += head * seqlen_q * HEAD_DIM;
    o += head * seqlen_q * HEAD_DIM;
    m += head * seqlen_q;
    l += head * seqlen_q;
    k += head * seqlen_k * HEAD_DIM;
    v += head * seqlen_k * HEAD_DIM;
    const Mask mask{seqlen_k, seqlen_k - seqlen_q};
    const int tiles_k = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
    clear_padding<TILE_K, HEAD_DIM, V_STRIDE>(shared_v);

    for (int step = 0; step < tiles_k; ++step) {
#if TRACE
        const int k0 = (reverse ? tiles_k - 1 - step : step) * BLOCK_K;
#else
        const int k0 = step * BLOCK_K;
#endif
        const int width = min(BLOCK_K, seqlen_k - k0);
        __syncthreads();  // the previous K and V are done with, and the state written by then is visible
        load_tile<TILE_K, HEAD_DIM, QK_STRIDE>(k + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_k);
        load_tile<TILE_K, HEAD_DIM, V_STRIDE>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_v);

        for (int q0 = 0; q0 < seqlen_q; q0 += BLOCK_Q) {
            const int rows = min(BLOCK_Q, seqlen_q - q0);
            // The first pass meets every row, also those that see nothing: it sets their state to empty.
            if (step > 0 && mask.end(q0 + rows - 1) <= k0) continue;
            __syncthreads();  // the previous Q is done with; on the first pass K and V are complete
            load_tile<TILE_Q, HEAD_DIM, QK_STRIDE>(q + (long long)q0 * HEAD_DIM, HEAD_DIM, rows, shared_q, scale_log2);
            __syncthreads();

            float s[ROWS][COLUMNS] = {};
            multiply_rows<HEAD_DIM, QK_STRIDE>(shared_q, shared_k, s);
            if (k0 + TILE_K > mask.end(q0) || BLOCK_K < TILE_K) apply_mask(s, mask, q0, k0, width);
#if TRACE
            recorder.slot = q0 / BLOCK_Q * tiles_k + k0 / BLOCK_K;
            recorder.rows = rows;
            recorder.scores(s);
#endif
            float keep[ROWS], gain[ROWS];  // factors on the old O and on this tile's PV
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const int row = thread_row() + THREAD_ROWS * i;
                const bool fresh = step == 0 || row >= rows;
                float row_m = fresh ? MINUS_INFINITY : m[q0 + row];
                float row_l = fresh ? 0.0f : l[q0 + row];
                float sum;
                const float alpha = update_row(s[i], row_m, sum);
                const float old = row_l * alpha;
                row_l = old + row_sum(sum);
                gain[i] = row_l > 0.0f ? 1.0f / row_l : 0.0f;
                keep[i] = old * gain[i];
                __syncwarp();  // all eight threads of the row have read its state
                if (row < rows && thread_column() == 0) m[q0 + row] = row_m, l[q0 + row] = row_l;
#if TRACE
                recorder.row(row, row_m, row_l, alpha);
#endif
            }
            store_probabilities<P_STRIDE>(s, shared_p);
            float4 acc[ROWS][GROUPS] = {};
            multiply_columns<TILE_K, P_STRIDE, V_STRIDE>(shared_p, shared_v, acc);

#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const int row = thread_row() + THREAD_ROWS * i;
                if (row >= rows) continue;
#pragma unroll
                for (int c = 0; c < GROUPS; ++c) {
                    const int column = thread_column() * 4 + c * 32;
                    if (column >= HEAD_DIM) continue;
                    float4* const place = reinterpret_cast<float4*>(o + (long long)(q0 + row) * HEAD_DIM + column);
                    float4 x = scaled(acc[i][c], gain[i]);
                    if (step > 0) multiply_add(x, keep[i], *place);
                    *place = x;
#if TRACE
                    recorder.output(row, column, x);
#endif
                }
            }
#if TRACE
            recorder.stamp();
#endif
        }
    }
}

// Last pass, one thread for four elements of O: to the element type, and LSE from m and l.
extern "C" __global__ void flash1_finish(const float* running, const float* m, const float* l, element* o, float* lse,
                                         long long rows) {
    constexpr int FOURS = HEAD_DIM / 4;
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = index / FOURS;
    if (row >= rows) return;
    if (index % FOURS == 0) lse[row] = log_sum_exp(m[row], l[row]);
#ifndef DTYPE_float32  // float32 grew in place
    store_four(o + index * 4, *reinterpret_cast<const float4*>(running + index * 4));
#endif
}
