// dQ of flash2's backward pass in a launch of its own, for the same bits in every run: the queries are outside.
#pragma once
#include "backward_trace.cuh"
#include "flash2_backward_layout.cuh"
#include "scoring.cuh"

constexpr int OUTER = OUTER_WARPS * 16, OUTER_THREADS = OUTER_WARPS * 32;
using Outer = Tile<OUTER, WIDTH, OUTER_THREADS>;
using Inner = Tile<INNER, WIDTH, OUTER_THREADS>;
using OuterGrad = Tile<OUTER, V_WIDTH, OUTER_THREADS>;
using InnerValues = Tile<INNER, V_WIDTH, OUTER_THREADS>;
constexpr int INNER_STAGE = Inner::BYTES + InnerValues::BYTES;
TRACED(using DqRecorder = TileRecorder<OUTER, INNER>;)

// dQ alone: a block owns OUTER queries and passes by the keys that they see, INNER at a time, in the same order always.
extern "C" __global__ void __launch_bounds__(OUTER_THREADS, 1)
    flash2_backward_queries(const element* q, const element* k, const element* v, const element* grad_output,
                            const RowState* states, element* dq, int group, int seqlen_q, int seqlen_k, int window_left,
                            int window_right, float scale, const int* kept SCORING_GIVEN TRACE_GIVEN) {
    TRACED(DqRecorder recorder(recording);)
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned shared_q = shared_address(shared), shared_grad = shared_q + Outer::BYTES;
    const unsigned shared_k = shared_grad + OuterGrad::BYTES;  // two stages of K and, behind each, V

    const int tiles_q = (seqlen_q + OUTER - 1) / OUTER, steps = (seqlen_k + INNER - 1) / INNER;
    const long long head = blockIdx.x / tiles_q;
    const int q0 = blockIdx.x % tiles_q * OUTER, rows = min(OUTER, seqlen_q - q0);
    const long long first_row = head * seqlen_q + q0, first_key = head / group * seqlen_k;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * 16;
    const unsigned lane_rows = Outer::lane_rows_first(lane) + warp_row * Outer::ROW_BYTES;
    const unsigned grad_rows = OuterGrad::lane_rows_first(lane) + warp_row * OuterGrad::ROW_BYTES;
    const Rows<Outer, 1, false> left_q{shared_q + lane_rows};
    const Rows<OuterGrad, 1, false> left_grad{shared_grad + (OWN_V ? grad_rows : lane_rows)};
    auto next = [&](int step) {
        while (step < steps && !meet(mask, kept, q0, q0 + rows - 1, step * INNER, INNER)) ++step;
        return step;
    };
    auto copy = [&](int step, int stage) {
        if (step < steps) {
            const int keys = seqlen_k - step * INNER;
            const long long start = (first_key + step * INNER) * HEAD_DIM;
            const long long start_v = OWN_V ? (first_key + step * INNER) * HEAD_DIM_V : start;
            const unsigned here = shared_k + stage * INNER_STAGE, target = Inner::thread_target(here);
            Inner::copy(target, Inner::thread_source(k + start, HEAD_DIM), HEAD_DIM, keys, HEAD_DIM);
            InnerValues::copy(OWN_V ? InnerValues::thread_target(here + Inner::BYTES) : target + Inner::BYTES,
                              InnerValues::thread_source(v + start_v, HEAD_DIM_V), HEAD_DIM_V, keys, HEAD_DIM_V);
        }
        commit_copies();
    };

    Outer::copy(Outer::thread_target(shared_q), Outer::thread_source(q + first_row * HEAD_DIM, HEAD_DIM), HEAD_DIM, rows,
                HEAD_DIM);
    OuterGrad::copy(OuterGrad::thread_target(shared_grad),
                    OuterGrad::thread_source(grad_output + first_row * HEAD_DIM_V, HEAD_DIM_V), HEAD_DIM_V, rows,
                    HEAD_DIM_V);
    int step = next(0), stage = 0;
    copy(step, 0);
    RowState state[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const int row = warp_row + lane / 4 + 8 * r;
        state[r] = row < rows ? states[head * padded(seqlen_q) + q0 + row] : RowState::of(MINUS_INFINITY, 0.0f);
    }
    float acc[1][WIDTH / 8][4] = {};
#if SOFTCAP || ALIBI
    const float factor = 1.0f;  // scores are in base 2
    const ScoreTerms terms = ScoreTerms::of(scoring, scale * LOG2E, scale, head);
#else
    const float factor = scale * LOG2E;
#endif
#pragma unroll 1
    while (step < steps) {
        const int following = next(step + 1), k0 = step * INNER;
        wait_copies<0>();
        __syncthreads();  // this K and V are complete, the previous ones done with
        copy(following, 1 - stage);
        TRACED(recorder.tile(int(head / group), int(head % group), q0, seqlen_q, k0, seqlen_k);)
        const unsigned here_k = shared_k + stage * INNER_STAGE, here_v = here_k + Inner::BYTES;

        float p[1][INNER / 8][4], ds[1][INNER / 8][4];
        multiply_rows<Inner>(p, left_q, here_k + Inner::lane_columns_first(lane));
        multiply_rows<InnerValues>(ds, left_grad, here_v + InnerValues::lane_columns_first(lane));
        TRACED(recorder.weights_of_rows(recording.dp, ds, warp_row);)
#pragma unroll
        for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
#if SOFTCAP || ALIBI
                const int row = q0 + warp_row + lane / 4 + c / 2 * 8, key = k0 + n * 8 + lane % 4 * 2 + c % 2;
                const float rate = terms.apply(p[0][n][c], key - row - (seqlen_k - seqlen_q));
                ds[0][n][c] = (ds[0][n][c] - state[c / 2].delta) * rate;
#endif
                p[0][n][c] = state[c / 2].probability(p[0][n][c], factor);
            }
        }
        if (!whole(mask, q0, q0 + rows - 1, k0, INNER)) hide<false>(p, mask, q0 + warp_row, k0);
#pragma unroll
        for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const float delta = SOFTCAP || ALIBI ? 0.0f : state[c / 2].delta;  // where it is taken off already
                ds[0][n][c] = p[0][n][c] * (ds[0][n][c] - delta);
            }
        }
        TRACED(recorder.weights_of_rows(recording.p, p, warp_row);)
        TRACED(recorder.weights_of_rows(recording.ds, ds, warp_row);)
        multiply_columns<Inner>(acc, ds, here_k + Inner::lane_rows_first(lane));
        TRACED(recorder.query_rows(acc, warp_row);)
        TRACED(if (threadIdx.x == 0) recorder.stamp();)
        step = following;
        stage = 1 - stage;
    }

    wait_copies<0>();
    __syncthreads();  // Q is done with
    scale_all(acc, scale);
    store_rows<Outer>(shared, acc, warp_row, dq + first_row * HEAD_DIM, HEAD_DIM, rows, HEAD_DIM);
}
