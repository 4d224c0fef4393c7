// The five products of a tile of keys and a tile of queries in flash2's backward pass: S and dP, dV and dK, dQ.
//
// S^T = K Q^T and dP^T = V dO^T have the keys as rows, so that P^T and dS^T are in the registers that the products
// dV += P^T dO and dK += dS^T Q take them from. A warp multiplies so what it has computed itself, which no other warp
// has to wait for; what the others of its group have computed it reads from shared memory, as all warps do for
// dQ += dS K. There every pair of matrices that is read feeds two or four fragments: shared memory sets the pace.
#pragma once
#include "flash2_backward_clocks.cuh"
#include "flash2_backward_layout.cuh"
#include "flash2_backward_rows.cuh"
#include "flash2_backward_trace.cuh"
#include "scoring.cuh"

using OwnWeights = float[SUBTILES][AT_ONCE / 8][4];

// dS = P (dP - delta) of some of the queries, in units of 8.
__device__ __forceinline__ void weigh(OwnWeights& ds, const OwnWeights& p, int first, int end) {
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
        for (int n = first; n < end; ++n) {
#pragma unroll
            for (int c = 0; c < 4; ++c) ds[i][n][c] *= p[i][n][c];
        }
    }
}

// P and dS of the warp's keys and AT_ONCE queries from first_query of the tile on, and their part of dV and dK. The
// tile's first query is q0, the warp's first key is k0; `whole`: nothing is hidden.
__device__ __forceinline__ void add_own(Fragments& dk, ValueFragments& dv, const Shared& shared, int stage,
                                        const Place& place, int first_query, float factor, const Mask& mask, bool whole,
                                        int q0, int k0, [[maybe_unused]] int half TERMS_TAKEN CLOCKS_TAKEN TRACE_TAKEN) {
    const int lane = place.lane;
    const unsigned keys = KeyTile::lane_rows_first(lane) + place.first_key * KeyTile::ROW_BYTES;
    const unsigned values = ValueTile::lane_rows_first(lane) + place.first_key * ValueTile::ROW_BYTES;
    const Rows<KeyTile, SUBTILES, false> k{shared.k() + keys};
    const Rows<ValueTile, SUBTILES, false> v{shared.v() + (OWN_V ? values : keys)};
    const unsigned q = shared.q(stage) + first_query * QueryTile::ROW_BYTES;
    const unsigned grad = OWN_V ? shared.q(stage) + QueryTile::BYTES + first_query * GradTile::ROW_BYTES
                                : q + QueryTile::BYTES;
    const RowState* const states = shared.states(stage) + first_query + lane % 4 * 2;

    OwnWeights p, ds;
    multiply_rows<GradTile>(ds, v, grad + GradTile::lane_columns_first(lane));  // the other order takes more registers
    multiply_rows<QueryTile>(p, k, q + QueryTile::lane_columns_first(lane) CLOCK_OF_OWN_BEGUN(half, 0));
    TRACED(recorder.weights(recorder.to.dp, ds, place.first_key, first_query);)
#pragma unroll
    for (int n = 0; n < AT_ONCE / 8; ++n) {
        const float4 two = *reinterpret_cast<const float4*>(states + n * 8);
        const RowState of[2] = {{two.x, two.y}, {two.z, two.w}};
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
#if SOFTCAP || ALIBI
                const int key = k0 + i * 16 + lane / 4 + c / 2 * 8;
                const int query = q0 + first_query + n * 8 + lane % 4 * 2 + c % 2;
                ds[i][n][c] = (ds[i][n][c] - of[c % 2].delta) * terms.apply(p[i][n][c], key - query - shift);
                p[i][n][c] = of[c % 2].probability(p[i][n][c], factor);
#else
                p[i][n][c] = of[c % 2].probability(p[i][n][c], factor);
                ds[i][n][c] -= of[c % 2].delta;
#endif
            }
        }
        if (n == 1) { CLOCK_OF_OWN(half, 1) }
    }
    if (!whole) hide<true>(p, mask, k0, q0 + first_query);
    TRACED(recorder.weights(recorder.to.p, p, place.first_key, first_query);)
    if (SHARED_P) put_rows<Weights>(shared.p(), p, place.lane, place.first_key, first_query);
    multiply_columns<GradTile>(dv, p, grad + GradTile::lane_rows_first(lane),
                               place.first_value_column() CLOCK_OF_OWN_BEGUN(half, 2));
    weigh(ds, p, 0, BEFORE_DS);
    CLOCK_OF_OWN(half, 3)
    weigh(ds, p, BEFORE_DS, AT_ONCE / 8);
    TRACED(recorder.weights(recorder.to.ds, ds, place.first_key, first_query);)
    if (SHARED_DS) put_rows<Weights>(shared.ds(), ds, place.lane, place.first_key, first_query);
    multiply_columns<QueryTile>(dk, ds, q + QueryTile::lane_rows_first(lane),
                                place.first_column() CLOCK_OF_OWN_BEGUN(half, 4));
    CLOCK_OF_OWN(half, 5)
}

// sums += the weights of the group's other warps, from shared memory, times rows of Q or dO, from a column on.
template <typename Right, typename Sums, typename Begun = Nothing>
__device__ __forceinline__ void add_others(Sums& sums, unsigned weights, unsigned queries, const Place& place, int column,
                                           const Begun& begun = Begun()) {
    constexpr int STEPS = QUERIES / 16, OWN = SHARE / 16;
    const unsigned left = weights + Weights::lane_rows_first(place.lane) + place.first_key * Weights::ROW_BYTES;
    const unsigned right = queries + Right::lane_rows_first(place.lane);
#pragma unroll
    for (int i = 0; i < STEPS; ++i) {
        if (i >= STEPS - OWN && place.computes()) break;
        const int step = (place.part * OWN + OWN + i) % STEPS;
        unsigned a[SUBTILES][4];
#pragma unroll
        for (int m = 0; m < SUBTILES; ++m) load_matrices(a[m], Weights::at(left, m, step));
        if (i == 0) multiply_step<Right>(sums, a, right, step, column, begun);
        else multiply_step<Right>(sums, a, right, step, column);
    }
}

// dQ += dS K of one tile, from the fragments of 16 queries first_row on, of which `rows` exist. A warp takes ROWS of
// them, and every COLUMN_GROUPS-th 16 columns.
__device__ __forceinline__ void add_queries(const Shared& shared, float* dq_sums, long long first_row,
                                            int rows CLOCKS_TAKEN TRACE_TAKEN) {
    constexpr int ROWS = QUERIES >= 32 ? 2 : 1, ROW_GROUPS = QUERIES / 16 / ROWS, COLUMN_GROUPS = WARPS / ROW_GROUPS;
    constexpr int COLUMNS = WIDTH / 16, CHUNKS = (COLUMNS + COLUMN_GROUPS - 1) / COLUMN_GROUPS;
    constexpr bool ALIKE = COLUMNS % COLUMN_GROUPS == 0 && WIDTH == HEAD_DIM;  // all warps have CHUNKS
    static_assert(WARPS % ROW_GROUPS == 0, "whole groups of warps");
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int row_group = warp % ROW_GROUPS * ROWS, column_group = warp / ROW_GROUPS;
    const unsigned left = shared_address(shared.ds()) + Weights::lane_columns_first(lane);  // with .trans, a left operand
    const unsigned right = shared.k() + KeyTile::lane_rows_first(lane);
    float sums[ROWS][2 * CHUNKS][4] = {};
#pragma unroll
    for (int n = 0; n < KEYS / 16; ++n) {
        unsigned a[ROWS][4];
#pragma unroll
        for (int r = 0; r < ROWS; ++r) load_matrices_transposed(a[r], Weights::at(left, n, row_group + r));
#pragma unroll
        for (int i = 0; i < CHUNKS; ++i) {
            const int column = column_group + i * COLUMN_GROUPS;
            if (!ALIKE && column >= COLUMNS) continue;
            unsigned b[4];
            load_matrices_transposed(b, KeyTile::at(right, n, column));
            if (SHARED_P && n == 0 && i == 0) { CLOCK_OF_ALL(2) }
#pragma unroll
            for (int r = 0; r < ROWS; ++r) {
                multiply(sums[r][2 * i], a[r], b[0], b[1]);
                multiply(sums[r][2 * i + 1], a[r], b[2], b[3]);
            }
        }
    }
    CLOCK_OF_ALL(3)
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
        if (row_group + r >= rows) continue;
#pragma unroll
        for (int i = 0; i < 2 * CHUNKS; ++i) {
            const int column = (column_group + i / 2 * COLUMN_GROUPS) * 2 + i % 2;
            if (!ALIKE && column >= HEAD_DIM / 8) continue;
            TRACED(recorder.add_queries(sums[r][i], (row_group + r) * 16, column * 8);)
            add_fragment(fragment(dq_sums, first_row + row_group + r, column), sums[r][i], lane);
        }
    }
    CLOCK_OF_ALL(4)
}

// A warp's rows and columns of dK or dV to HBM in 16-byte stores, by way of a tile in shared memory.
template <typename Keys, int WIDE, typename Sums>
__device__ __forceinline__ void store_part(unsigned char* tile, const Sums& x, const Place& place, int column,
                                           element* target, int keys) {
    const int first_chunk = column * 2;
    put_rows<Keys>(tile, x, place.lane, place.first_key, first_chunk * 8);
    __syncwarp();
    constexpr int CHUNKS = sizeof(x[0]) / sizeof(x[0][0]);
    for (int i = place.lane; i < GROUP_KEYS * CHUNKS; i += 32) {
        const int row = place.first_key + i / CHUNKS, chunk = first_chunk + i % CHUNKS;
        if (row < keys && chunk * 8 < WIDE) {
            *reinterpret_cast<uint4*>(target + (long long)row * WIDE + chunk * 8) =
                *reinterpret_cast<const uint4*>(tile + Keys::offset(row, chunk));
        }
    }
}
