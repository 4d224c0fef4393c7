// fused: attention as one launch that keeps whole rows of scores in shared memory: fusing without tiling.
//
// Idea: what one finds without the online softmax. A block owns TILE_Q query rows, computes all of their scores, takes
// the softmax of whole rows, and multiplies with V. S and P never leave the chip, so HBM sees Q, K, V and O alone.
// Changed from simt_standard: the three steps follow one another inside a block; their matrices are its rows.
// Limit: shared memory. Nk floats a row: the longest rows that fit a block are the longest sequence (kernels/catalogue/fused.py
// has the sum). So that rows fit at all there are few of them, so that K and V are read again for every 16 queries.
// Known to be wrong with it: beyond that N it cannot run, and near it one block has a multiprocessor to itself.
#include "simt_softmax.cuh"

constexpr int STAGES = 2;
constexpr int STAGE_SIZE = TILE_K * V_STRIDE;    // of K or of V, which is as wide or wider
constexpr int SCORES_SIZE = TILE_Q * P_STRIDE;   // of one tile of scores
static_assert(V_STRIDE >= QK_STRIDE, "a tile of K fits where one of V does");

extern "C" __global__ void __launch_bounds__(THREADS)
    fused(const element* q, const element* k, const element* v, element* o, float* lse, int group, int seqlen_q,
          int seqlen_k, int window_left, int window_right, float factor) {
    extern __shared__ __align__(16) unsigned char shared[];
    float* const shared_q = reinterpret_cast<float*>(shared);  // TILE_Q x HEAD_DIM
    float* const stages = shared_q + TILE_Q * QK_STRIDE;       // tiles of K, then of V
    float* const scores = stages + STAGES * STAGE_SIZE;        // TILE_Q x all keys, tile beside tile

    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q;
    const int head = blockIdx.x / tiles_q, q0 = blockIdx.x % tiles_q * TILE_Q;
    const int rows = min(TILE_Q, seqlen_q - q0);
    const long long q_row = (long long)head * seqlen_q + q0;
    k += (long long)(head / group) * seqlen_k * HEAD_DIM;
    v += (long long)(head / group) * seqlen_k * HEAD_DIM;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int first = mask.begin(q0) / TILE_K;
    const int steps = max(0, (mask.end(q0 + rows - 1) + TILE_K - 1) / TILE_K - first);

    // The tiles of K, then those of V; the next one is on its way while one is multiplied.
    auto load = [&](int step) {
        float* const stage = stages + step % STAGES * STAGE_SIZE;
        const int k0 = (first + (step < steps ? step : step - steps)) * TILE_K;
        const long long start = (long long)k0 * HEAD_DIM;
        if (step < steps) {
            load_tile<TILE_K, HEAD_DIM, HEAD_DEPTH>(k + start, HEAD_DIM, seqlen_k - k0, stage);
        } else if (step < 2 * steps) {
            load_tile<TILE_K, HEAD_DIM, OUTPUT_WIDTH>(v + start, HEAD_DIM, seqlen_k - k0, stage);
        }
        commit_copies();
    };
    // The stage of a step once all of it is there, and the step before is done with.
    auto arrived = [&](int step) {
        wait_copies<0>();
        __syncthreads();
        load(step + 1);
        return stages + step % STAGES * STAGE_SIZE;
    };
    load_tile<TILE_Q, HEAD_DIM, HEAD_DEPTH>(q + q_row * HEAD_DIM, HEAD_DIM, rows, shared_q);
    load(0);

    float m[ROWS], l[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; ++i) m[i] = MINUS_INFINITY, l[i] = 0.0f;
    for (int step = 0; step < steps; ++step) {
        const float* const stage = arrived(step);
        const int k0 = (first + step) * TILE_K;
        float s[ROWS][COLUMNS] = {};
        compute_scores(shared_q, stage, s, mask, q0, k0, min(TILE_K, seqlen_k - k0));
        float* const tile = scores + step * SCORES_SIZE;
#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                m[i] = fmaxf(m[i], s[i][j]);
                tile[tile_row(i) * P_STRIDE + tile_column(j)] = s[i][j];
            }
        }
    }

    // The softmax of whole rows: each thread takes the scores that it wrote.
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        m[i] = row_max(m[i]) * factor;
        const float origin = finite_max(m[i]);
        for (int step = 0; step < steps; ++step) {
            float* const row = scores + step * SCORES_SIZE + tile_row(i) * P_STRIDE;
#pragma unroll
            for (int j = 0; j < COLUMNS; ++j) {
                const float p = exp2f(fmaf(row[tile_column(j)], factor, -origin));
                row[tile_column(j)] = p;
                l[i] += p;
            }
        }
        l[i] = row_sum(l[i]);
    }

    float acc[ROWS][OUTPUTS] = {};
    for (int step = steps; step < 2 * steps; ++step) {
        const float* const stage = arrived(step);
        multiply_columns<TILE_K, P_STRIDE>(scores + (step - steps) * SCORES_SIZE, stage, acc);
    }

#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = tile_row(i);
        if (row >= rows) continue;
        if (row_lane() == 0) lse[q_row + row] = log_sum_exp(m[i], l[i]);
        store_row(o + (q_row + row) * HEAD_DIM, acc[i], l[i] > 0.0f ? 1.0f / l[i] : 0.0f);
    }
}
