// simt: the loop order of flash2 in float arithmetic throughout, without tensor cores.
//
// Idea: one block owns TILE_Q query rows and walks over the keys. S and P exist only as one tile on the chip; m, l and
// an unnormalised O stay in registers until the end, when one division finishes the row. Inputs of any type become
// floats on their way to shared memory: P is not rounded, exp2f is the library's. It is what accuracy is measured from,
// flash2 for float32, and what runs on any GPU.
// Changed from simt_flash1: the loops are swapped. O, l and m never touch HBM while they grow, and every query tile is
// a block of its own, so that batch * heads * Nq / TILE_Q blocks fill the GPU instead of batch * heads.
// Limit: arithmetic. 4 Nq Nk d operations a head on the FMA units, 67 TFLOP/s on an H200, and a shared memory
// that feeds them: 38 are reached.
// Known to be wrong with it: the tensor cores idle; flash2 is ten times as fast in 16 bits.
#include "sequences.cuh"
#include "simt_softmax.cuh"
#if PAGE_SIZE
#include "simt_pages.cuh"
#else
#include "simt_arrays.cuh"
#endif
#if TRACE
#include "trace.cuh"
#else
#include "untraced.cuh"
#endif

// P goes where K was.
constexpr int K_SIZE = TILE_K * QK_STRIDE, P_SIZE = TILE_Q * P_STRIDE;

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    simt(const element* q, const element* k, const element* v, element* o, float* lse, int heads, int group,
         int seqlen_q, int seqlen_k, int window_left, int window_right, float factor, const int* lists,
         const int* counts, int sequence_heads, const __grid_constant__ Sequences sequences, int kv_heads,
         const __grid_constant__ Recording recording) {
    Recorder recorder(recording);
    extern __shared__ __align__(16) unsigned char shared[];
    float* const shared_q = reinterpret_cast<float*>(shared);  // TILE_Q x HEAD_DIM
    float* const shared_k = shared_q + TILE_Q * QK_STRIDE;     // TILE_K x HEAD_DIM, then TILE_Q x TILE_K
    float* const shared_v = shared_k + (K_SIZE > P_SIZE ? K_SIZE : P_SIZE);

    // Causal rows get longer downwards: the longest tiles of all heads start first, the short ones fill the end.
    const int tiles_q = gridDim.x / heads;
    const int head = CAUSAL ? blockIdx.x % heads : blockIdx.x / tiles_q;
    const int tile_q = CAUSAL ? tiles_q - 1 - blockIdx.x / heads : blockIdx.x % tiles_q;
    const int q0 = tile_q * BLOCK_Q;
    const int sequence = RAGGED || PAGE_SIZE ? head / sequence_heads : 0;
    const int *const query_lengths = sequences.query_lengths, *const key_lengths = sequences.key_lengths;
    const int queries = RAGGED ? query_lengths[sequence] : seqlen_q, keys = RAGGED ? key_lengths[sequence] : seqlen_k;
    const int rows = min(BLOCK_Q, queries - q0);
    const long long q_row = (long long)head * seqlen_q + q0;
    const Pages pages(sequences.page_table, kv_heads, head, group, sequence, seqlen_k, keys);
    if constexpr (PAGE_SIZE == 0) {
        k += (long long)(head / group) * seqlen_k * HEAD_DIM;
        v += (long long)(head / group) * seqlen_k * HEAD_DIM;
    }

    const Mask mask = Mask::of(queries, keys, window_left, window_right);
    const int tiles_k = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
#if SPARSE  // as conditions of the language both take other registers
    const int* const list =
        lists + tile_q / TILES_PER_BLOCK_Q * ((tiles_k + TILES_PER_BLOCK_K - 1) / TILES_PER_BLOCK_K);
    const int steps = counts[tile_q / TILES_PER_BLOCK_Q];
    auto first_key = [&](int step) {
        return (list[step / TILES_PER_BLOCK_K] * TILES_PER_BLOCK_K + step % TILES_PER_BLOCK_K) * BLOCK_K;
    };
#else
    // The first row's first key to the last row's last.
    const int first = mask.begin(q0) / BLOCK_K;
    const int past = RAGGED && rows <= 0 ? 0 : mask.end(q0 + rows - 1);
    const int steps = max(0, (past + BLOCK_K - 1) / BLOCK_K - first);
    auto first_key = [&](int step) { return (first + (TRACE ? recorder.turned(step, steps) : step)) * BLOCK_K; };
#endif
    load_tile<TILE_Q, HEAD_DIM, HEAD_DEPTH>(q + q_row * HEAD_DIM, HEAD_DIM, rows, shared_q);

    float m[ROWS], l[ROWS];  // l: this thread's columns only
    float acc[ROWS][OUTPUTS] = {};
#pragma unroll
    for (int i = 0; i < ROWS; ++i) m[i] = MINUS_INFINITY, l[i] = 0.0f;

    for (int step = 0; step < steps; ++step) {
        const int k0 = first_key(step), width = min(BLOCK_K, keys - k0);
        __syncthreads();  // the previous probabilities and V are done with
        if constexpr (PAGE_SIZE > 0) {
            constexpr int STRETCH = Pages::STRETCH;
            for (int i = 0; i < TILE_K; i += STRETCH) {
                const long long from = pages.offset(k0 + i);
                load_tile<STRETCH, HEAD_DIM, HEAD_DEPTH>(k + from, HEAD_DIM, width - i, shared_k + i * QK_STRIDE);
                load_tile<STRETCH, HEAD_DIM, OUTPUT_WIDTH>(v + from, HEAD_DIM, width - i, shared_v + i * V_STRIDE);
            }
        } else {
            load_tile<TILE_K, HEAD_DIM, HEAD_DEPTH>(k + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_k);
            load_tile<TILE_K, HEAD_DIM, OUTPUT_WIDTH>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, width, shared_v);
        }
        commit_copies();
        wait_copies<0>();
        __syncthreads();

        float s[ROWS][COLUMNS] = {};
        compute_scores(shared_q, shared_k, s, mask, q0, k0, width);
        recorder.scores(tile_q * tiles_k + k0 / BLOCK_K, rows, s, factor);
        __syncthreads();  // K is done with

#pragma unroll
        for (int i = 0; i < ROWS; ++i) {
            float sum;
            const float alpha = update_row(s[i], factor, m[i], sum);
            l[i] = fmaf(l[i], alpha, sum);
#pragma unroll
            for (int c = 0; c < OUTPUTS; ++c) acc[i][c] *= alpha;
            recorder.row_in_parts(i, m[i], l[i], alpha);
        }
        multiply_probabilities(s, shared_k, shared_v, acc);
        recorder.outputs(acc);
        recorder.stamp();
    }

    const int stored = RAGGED ? min(BLOCK_Q, seqlen_q - q0) : rows;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = tile_row(i);
        float sum = row_sum(l[i]);
        if (row >= stored) continue;
        if (RAGGED && row >= rows) {
            sum = 0.0f;
#pragma unroll
            for (int c = 0; c < OUTPUTS; ++c) acc[i][c] = 0.0f;
        }
        if (row_lane() == 0) lse[q_row + row] = log_sum_exp(m[i], sum);
        store_row(o + (q_row + row) * HEAD_DIM, acc[i], sum > 0.0f ? 1.0f / sum : 0.0f);
    }
}
