// A tile of keys and all queries that see it, for flash1: their S, P and dS again, dK and dV of the keys, and the keys'
// share of dQ.
//
// S^T = K Q^T and dP^T = V dO^T have the keys as rows, so that P^T and dS^T are in the registers that the products
// dV += P^T dO and dK += dS^T Q take them from. For dQ += dS K, dS^T goes through shared memory, where another matrix
// load reads it transposed. Beyond d = 128 the registers hold half of dK and dV: two blocks compute the same S and dP,
// each for its columns.
#pragma once
#include "backward_trace.cuh"
#include "flash1_clocks.cuh"

constexpr int THREADS = WARPS * 32;
constexpr int SUBTILES = 1;  // fragments of 16 keys in a warp
constexpr int OUTER = WARPS * 16;  // keys that a block keeps
constexpr int WIDTH = round_up(HEAD_DIM, 16);
constexpr int PARTS = WIDTH > 128 ? 2 : 1;  // blocks that share the columns of dK and dV
constexpr int PART_WIDTH = PARTS == 1 ? WIDTH : 128;
constexpr int STAGES = 2;
using Outer = Tile<OUTER, WIDTH, THREADS>;
using Inner = Tile<INNER, WIDTH, THREADS>;
using Part = Tile<OUTER, PART_WIDTH, THREADS>;
using Weights = Tile<OUTER, INNER, THREADS>;  // dS^T
constexpr int STAGE = 2 * Inner::BYTES;
constexpr int SHARED_BYTES = 2 * Outer::BYTES + STAGES * (STAGE + INNER * int(sizeof(RowState))) + Weights::BYTES;
TRACED(using Recorder = TileRecorder<INNER, OUTER>;)

// dQ += dS K of one tile, the columns of a part: a warp takes 16 of the queries, and every COLUMN_GROUPS-th 16 columns.
// `sums`: of the tile's first query; `rows`: queries that exist. A thread adds to the same sums in every tile of keys.
__device__ __forceinline__ void add_queries(unsigned shared_ds, unsigned shared_k, float* sums, int rows,
                                            int part CLOCKS_TAKEN TRACE_TAKEN) {
    constexpr int ROW_GROUPS = INNER / 16, COLUMN_GROUPS = WARPS / ROW_GROUPS, COLUMNS = PART_WIDTH / 16;
    static_assert(WARPS % ROW_GROUPS == 0, "whole groups of warps");
    constexpr int CHUNKS = (COLUMNS + COLUMN_GROUPS - 1) / COLUMN_GROUPS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row_group = warp % ROW_GROUPS, column_group = part * COLUMNS + warp / ROW_GROUPS;
    const int end = min((part + 1) * COLUMNS, WIDTH / 16);
    const unsigned lane_ds = shared_ds + Weights::lane_columns_first(lane);  // with .trans, a left operand
    const unsigned lane_k = shared_k + Outer::lane_rows_first(lane);
    float acc[CHUNKS][2][4] = {};
#pragma unroll
    for (int n = 0; n < OUTER / 16; ++n) {
        unsigned a[4];
        load_matrices_transposed(a, Weights::at(lane_ds, n, row_group));
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
            const int column = column_group + i * COLUMN_GROUPS;
            if (column >= end) continue;
            unsigned b[4];
            load_matrices_transposed(b, Outer::at(lane_k, n, column));
            multiply(acc[i][0], a, b[0], b[1]);
            multiply(acc[i][1], a, b[2], b[3]);
        }
    }
    CLOCK(11)
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int column = (column_group + i * COLUMN_GROUPS) * 16 + half * 8 + lane % 4 * 2;
            if (column >= min(end * 16, HEAD_DIM)) continue;
            TRACED(recorder.add_queries(acc[i][half], row_group * 16, column - lane % 4 * 2);)
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const int row = row_group * 16 + lane / 4 + 8 * r;
                if (row >= rows) continue;
                float2* const pair = reinterpret_cast<float2*>(sums + (long long)row * HEAD_DIM + column);
                *pair = make_float2(pair->x + acc[i][half][2 * r], pair->y + acc[i][half][2 * r + 1]);
            }
        }
    }
    CLOCK(12)
}

struct Given {
    const element *q, *k, *v, *grad_output;
};

// The block's keys from k0 on, of one K/V head. `state_of` puts LSE and delta of a tile's queries into shared memory.
template <class States>
__device__ __forceinline__ void key_tile(unsigned char* shared, const Given& given, const States& state_of,
                                         float* dq_sums, element* dk, element* dv, long long kv_head, int k0, int group,
                                         int seqlen_q, const Mask& mask, float scale,
                                         const int* kept CLOCKS_TAKEN TRACE_TAKEN) {
    const unsigned shared_k = shared_address(shared), shared_v = shared_k + Outer::BYTES;
    const unsigned shared_q = shared_v + Outer::BYTES;  // two stages of Q and, behind each, dO
    const unsigned shared_ds = shared_q + STAGES * STAGE;
    unsigned char* const weights = shared + (shared_ds - shared_k);
    RowState* const states = reinterpret_cast<RowState*>(weights + Weights::BYTES);  // two stages

    const int tiles_q = (seqlen_q + INNER - 1) / INNER, keys = min(OUTER, mask.seqlen_k - k0);
    const int part = blockIdx.x % PARTS;
    const long long first_key = kv_head * mask.seqlen_k + k0;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const unsigned lane_rows = Outer::lane_rows_first(lane) + warp_row * Outer::ROW_BYTES;
    const Rows<Outer, SUBTILES, false> left_k{shared_k + lane_rows}, left_v{shared_v + lane_rows};

    // A step: a query tile of one of the group's heads.
    const int steps = group * tiles_q;
    auto last_of = [&](int q0) { return min(q0 + INNER, seqlen_q) - 1; };
    auto next = [&](int step) {
        for (; step < steps; ++step) {
            const int q0 = step % tiles_q * INNER;
            if (meet(mask, kept, q0, last_of(q0), k0, OUTER)) break;
        }
        return step;
    };
    auto first_row = [&](int step) { return (kv_head * group + step / tiles_q) * seqlen_q + step % tiles_q * INNER; };
    auto copy = [&](int step, int stage) {
        if (step < steps) {
            const int rows = seqlen_q - step % tiles_q * INNER;
            const long long row = first_row(step);
            const unsigned target = Inner::thread_target(shared_q + stage * STAGE);
            Inner::copy(target, Inner::thread_source(given.q + row * HEAD_DIM, HEAD_DIM), HEAD_DIM, rows, HEAD_DIM);
            Inner::copy(target + Inner::BYTES, Inner::thread_source(given.grad_output + row * HEAD_DIM, HEAD_DIM), HEAD_DIM,
                        rows, HEAD_DIM);
            state_of.put(states + stage * INNER, row, rows);
        }
        commit_copies();
    };

    Outer::copy(Outer::thread_target(shared_k), Outer::thread_source(given.k + first_key * HEAD_DIM, HEAD_DIM), HEAD_DIM, keys,
                HEAD_DIM);
    Outer::copy(Outer::thread_target(shared_v), Outer::thread_source(given.v + first_key * HEAD_DIM, HEAD_DIM), HEAD_DIM, keys,
                HEAD_DIM);
    int step = next(0), stage = 0;
    copy(step, 0);
    float acc_k[SUBTILES][PART_WIDTH / 8][4] = {}, acc_v[SUBTILES][PART_WIDTH / 8][4] = {};
    // Of the part's first columns, whole groups of eight chunks; beyond WIDTH what is read is another row, and unused.
    const unsigned lane_part = Inner::lane_rows_first(lane) + part * PART_WIDTH * int(sizeof(element));
    const float factor = scale * LOG2E;
#pragma unroll 1
    while (step < steps) {
        const int following = next(step + 1);
        CLOCK(0)
        wait_copies<0>();
        __syncthreads();  // this Q and dO are complete, the previous ones and dS done with
        CLOCK(1)
        copy(following, 1 - stage);
        CLOCK(2)
        const unsigned here_q = shared_q + stage * STAGE, here_grad = here_q + Inner::BYTES;
        const RowState* const state = states + stage * INNER + lane % 4 * 2;

        TRACED(recorder.tile(int(kv_head), step / tiles_q, step % tiles_q * INNER, seqlen_q, k0, mask.seqlen_k);)
        TRACED(recorder.deltas(states + stage * INNER, THREADS);)
        float p[SUBTILES][INNER / 8][4], ds[SUBTILES][INNER / 8][4];
        multiply_rows<Inner>(p, left_k, here_q + Inner::lane_columns_first(lane));
        CLOCK(3)
        multiply_rows<Inner>(ds, left_v, here_grad + Inner::lane_columns_first(lane));
        CLOCK(4)
        TRACED(recorder.weights(recorder.to.dp, ds, warp_row, 0);)
        const int q0 = step % tiles_q * INNER, last_q = last_of(q0);
#pragma unroll
        for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const RowState query = state[n * 8 + c % 2];
#pragma unroll
                for (int i = 0; i < SUBTILES; ++i) {
                    p[i][n][c] = query.probability(p[i][n][c], factor);
                    ds[i][n][c] -= query.delta;
                }
            }
        }
        CLOCK(5)  // behind what is hidden it would spill
        if (!whole(mask, q0, last_q, k0, OUTER)) hide<true>(p, mask, k0 + warp_row, q0);
        TRACED(recorder.weights(recorder.to.p, p, warp_row, 0);)
        multiply_columns<Inner>(acc_v, p, here_grad + lane_part);
        CLOCK(6)
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) ds[i][n][c] *= p[i][n][c];
            }
        }
        TRACED(recorder.weights(recorder.to.ds, ds, warp_row, 0);)
        CLOCK(7)
        multiply_columns<Inner>(acc_k, ds, here_q + lane_part);
        CLOCK(8)
        TRACED(recorder.key_rows(recorder.to.dk, acc_k, warp_row, part * PART_WIDTH);)
        TRACED(recorder.key_rows(recorder.to.dv, acc_v, warp_row, part * PART_WIDTH);)
        put_rows<Weights>(weights, ds, threadIdx.x % 32, warp_row);
        CLOCK(9)
        __syncthreads();  // all of dS is there
        CLOCK(10)
        add_queries(shared_ds, shared_k, dq_sums + first_row(step) * HEAD_DIM, last_q + 1 - q0,
                    part CLOCKS_PASSED TRACE_PASSED);
        TRACED(if (threadIdx.x == 0) recorder.stamp();)
        CLOCKS_WRITE()
        step = following;
        stage = 1 - stage;
    }

    CLOCK(0)
    wait_copies<0>();
    __syncthreads();  // K and V are done with
    scale_all(acc_k, scale);
    const long long out = first_key * HEAD_DIM + part * PART_WIDTH;
    const int columns = HEAD_DIM - part * PART_WIDTH;
    store_rows<Part>(shared, acc_k, warp_row, dk + out, HEAD_DIM, keys, columns);
    store_rows<Part>(shared + Part::BYTES, acc_v, warp_row, dv + out, HEAD_DIM, keys, columns);
    CLOCK(1)
    CLOCKS_WRITE()
}
