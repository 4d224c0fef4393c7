// simt_flash1: the loop order of flash1 in float arithmetic throughout, without tensor cores: flash1 for float32, and
// what a trace of flash1 runs.
//
// Idea: one block owns one head. It holds a tile of K and V and passes all query tiles by it; each pass reads that
// tile's O, l and m from HBM, adds what these keys contribute, normalises, and writes them back (FlashAttention,
// arXiv 2205.14135, Algorithm 1).
// Changed from simt_standard: S and P exist only as one tile on the chip, so memory grows with N, not N^2.
// Limit: latency. O (float), l and m cross HBM or L2 once per key tile: Nk / TILE_K times 8 Nq d bytes and more.
// Known to be wrong with it: the loop order. Only batch * heads blocks run, and O is read and written again and again;
// simt swaps the loops.
#include "flash1_state.cuh"
#include "simt_softmax.cuh"
#if TRACE
#include "trace.cuh"
#else
#include "untraced.cuh"
#endif

// This thread's part of a row of the running O: O = gain * PV + keep * O. It is float whatever the inputs are:
// rounding it to 16 bits after every tile would add up.
__device__ __forceinline__ void blend_row(float* row, float (&acc)[OUTPUTS], float gain, float keep, bool fresh) {
#pragma unroll
    for (int c = 0; c < OUTPUTS; c += OUTPUT_RUN) {
        if (output_column(c) >= HEAD_DIM) continue;
        Run<float>* const place = reinterpret_cast<Run<float>*>(row + output_column(c));
        const Run<float> old = fresh ? Run<float>{} : *place;
        Run<float> run;
#pragma unroll
        for (int i = 0; i < OUTPUT_RUN; ++i) run.x[i] = acc[c + i] = fmaf(acc[c + i], gain, old.x[i] * keep);
        *place = run;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    simt_flash1(const element* q, const element* k, const element* v, float* o, float* m, float* l, int group,
                int seqlen_q, int seqlen_k, int window_left, int window_right, float factor,
                const int* kept, const __grid_constant__ Recording recording) {
    Recorder recorder(recording);
    extern __shared__ __align__(16) unsigned char shared[];
    float* const shared_q = reinterpret_cast<float*>(shared);  // TILE_Q x HEAD_DIM
    float* const shared_k = shared_q + TILE_Q * QK_STRIDE;     // TILE_K x HEAD_DIM
    float* const shared_v = shared_k + TILE_K * QK_STRIDE;     // TILE_K x HEAD_DIM
    float* const shared_p = shared_v + TILE_K * V_STRIDE;      // TILE_Q x TILE_K

    const long long head = blockIdx.x;
    q += head * seqlen_q * HEAD_DIM;
    o += head * seqlen_q * HEAD_DIM;
    m += head * seqlen_q;
    l += head * seqlen_q;
    k += head / group * seqlen_k * HEAD_DIM;
    v += head / group * seqlen_k * HEAD_DIM;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int tiles_k = (seqlen_k + BLOCK_K - 1) / BLOCK_K;

    auto first_key = [&](int step) { return (TRACE ? recorder.turned(step, tiles_k) : step) * BLOCK_K; };
    auto sees = [&](int q0, int k0) {
        return tiles_meet(mask, kept, q0, min(q0 + BLOCK_Q, seqlen_q) - 1, k0, BLOCK_Q, BLOCK_K);
    };
    for (int q0 = 0; q0 < seqlen_q; q0 += BLOCK_Q) {  // the first keys set the state of all other rows
        if (!sees(q0, first_key(0)))
            empty_rows(o + (long long)q0 * HEAD_DIM, m + q0, l + q0, min(BLOCK_Q, seqlen_q - q0));
    }

    for (int step = 0; step < tiles_k; ++step) {
        const int k0 = first_key(step), width = min(BLOCK_K, seqlen_k - k0);
        auto next = [&](int q0) {  // the next query tile that sees some of these keys
            while (q0 < seqlen_q && !sees(q0, k0)) q0 += BLOCK_Q;
            return q0;
        };
        int q0 = next(0);
        if (q0 >= seqlen_q) continue;
        __syncthreads();  // the previous K and V are done with, and the state written by then is visible
        load_tile<TILE_K, HEAD_DIM, HEAD_DEPTH>(k + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_k);
        load_tile<TILE_K, HEAD_DIM, OUTPUT_WIDTH>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_v);

        for (; q0 < seqlen_q; q0 = next(q0 + BLOCK_Q)) {
            const int rows = min(BLOCK_Q, seqlen_q - q0);
            __syncthreads();  // the previous Q is done with
            load_tile<TILE_Q, HEAD_DIM, HEAD_DEPTH>(q + (long long)q0 * HEAD_DIM, HEAD_DIM, rows, shared_q);
            commit_copies();
            wait_copies<0>();
            __syncthreads();

            float s[ROWS][COLUMNS] = {};
            compute_scores(shared_q, shared_k, s, mask, q0, k0, width);
            recorder.scores(q0 / BLOCK_Q * tiles_k + k0 / BLOCK_K, rows, s, factor);
            float keep[ROWS], gain[ROWS];  // factors on the old O and on this tile's PV
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                const int row = q0 + tile_row(i);
                const bool fresh = step == 0 || tile_row(i) >= rows;
                float row_m = fresh ? MINUS_INFINITY : m[row];
                float row_l = fresh ? 0.0f : l[row];
                float sum;
                const float alpha = update_row(s[i], factor, row_m, sum);
                const float old = row_l * alpha;
                row_l = old + row_sum(sum);
                gain[i] = row_l > 0.0f ? 1.0f / row_l : 0.0f;
                keep[i] = old * gain[i];
                __syncwarp();  // all threads of the row have read its state
                if (tile_row(i) < rows && row_lane() == 0) m[row] = row_m, l[row] = row_l;
                recorder.row(i, row_m, row_l, alpha);
            }
            float acc[ROWS][OUTPUTS] = {};
            multiply_probabilities(s, shared_p, shared_v, acc);
#pragma unroll
            for (int i = 0; i < ROWS; ++i) {
                if (tile_row(i) >= rows) continue;
                blend_row(o + (long long)(q0 + tile_row(i)) * HEAD_DIM, acc[i], gain[i], keep[i], step == 0);
                recorder.output(i, acc[i]);
            }
            recorder.stamp();
        }
    }
}

// Last pass, one thread for four elements of O: to the element type, and LSE from m and l.
extern "C" __global__ void simt_flash1_finish(const float* running, const float* m, const float* l, element* o,
                                              float* lse, long long rows) {
    constexpr int FOURS = HEAD_DIM / 4;
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = index / FOURS;
    if (row >= rows) return;
    if (index % FOURS == 0) lse[row] = log_sum_exp(m[row], l[row]);
    if constexpr (sizeof(element) < sizeof(float)) {  // else O grew in place
        const float4 x = *reinterpret_cast<const float4*>(running + index * 4);
        const ushort4 rounded = make_ushort4(from_float(x.x), from_float(x.y), from_float(x.z), from_float(x.w));
        *reinterpret_cast<ushort4*>(o + index * 4) = rounded;
    }
}
