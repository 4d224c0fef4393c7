// flash2, backward: dQ, dK and dV from Q, K, V, O, LSE and dO (FlashAttention-2, arXiv 2307.08691, Algorithm 2), on the
// tensor cores with mma.sync.
//
// Idea: a block owns OUTER keys of one K/V head and passes all queries that see them, of all query heads of the group:
// dK and dV stay in registers, and no other block adds to them. S^T = K Q^T and dP^T = V dO^T have the keys as rows, so
// that P^T and dS^T are in the registers that the products dV += P^T dO and dK += dS^T Q take them from. For
// dQ += dS K, dS^T goes through shared memory, where another matrix load reads it transposed.
// Changed from its forward pass: five products a tile instead of two; LSE stands for the online softmax.
// Limit: the issue of instructions, and dQ, which every block of keys adds to in HBM, in float.
// Known to be wrong with it: the order of those additions is not the same in every run. DETERMINISTIC leaves dQ to a
// launch of its own, with the queries outside: seven products instead of five, and the same bits in every run. Beyond
// d = 128 the registers hold half of dK and dV: two blocks compute the same S and dP, each for its columns.
// Not measured yet. At d = 64 two fragments a warp (4 warps, 32 queries a tile) would read shared memory less, but spill
// up to 60 bytes of registers on some architectures.
#include "backward.cuh"

constexpr int THREADS = WARPS * 32;
constexpr int OUTER = WARPS * SUBTILES * 16;  // rows that a block keeps: keys, or queries for a dQ of its own
constexpr int WIDTH = round_up(HEAD_DIM, 16);
constexpr int PARTS = WIDTH > 128 ? 2 : 1;  // blocks that share the columns of dK and dV
constexpr int PART_WIDTH = PARTS == 1 ? WIDTH : 128;
constexpr int STAGES = 2;
using Outer = Tile<OUTER, WIDTH, THREADS>;
using Inner = Tile<INNER, WIDTH, THREADS>;
using Part = Tile<OUTER, PART_WIDTH, THREADS>;
using Weights = Tile<OUTER, INNER, THREADS>;  // dS^T
constexpr int STAGE = 2 * Inner::BYTES;

// To neighbouring sums in HBM.
__device__ __forceinline__ void add_pair(float* sums, float x, float y) {
#if __CUDA_ARCH__ >= 900
    asm volatile("red.global.add.v2.f32 [%0], {%1, %2};" ::"l"(sums), "f"(x), "f"(y) : "memory");
#else
    atomicAdd(sums, x);
    atomicAdd(sums + 1, y);
#endif
}

// A warp's rows of dS^T to shared memory.
__device__ __forceinline__ void put_weights(unsigned char* tile, const float (&ds)[SUBTILES][INNER / 8][4],
                                            int warp_row) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = warp_row + i * 16 + lane / 4 + 8 * r;
#pragma unroll
            for (int n = 0; n < INNER / 8; ++n) {
                *reinterpret_cast<unsigned*>(tile + Weights::offset(row, n) + lane % 4 * 4) =
                    pack(ds[i][n][2 * r], ds[i][n][2 * r + 1]);
            }
        }
    }
}

// dQ += dS K of one tile, the columns of a part: a warp takes 16 of the queries, and every COLUMN_GROUPS-th 16 columns.
// `sums`: of the tile's first query; `rows`: queries that exist.
__device__ __forceinline__ void add_queries(unsigned shared_ds, unsigned shared_k, float* sums, int rows, int part) {
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
#pragma unroll
    for (int i = 0; i < CHUNKS; ++i) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int column = (column_group + i * COLUMN_GROUPS) * 16 + half * 8 + lane % 4 * 2;
            if (column >= min(end * 16, HEAD_DIM)) continue;
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const int row = row_group * 16 + lane / 4 + 8 * r;
                if (row < rows) {
                    add_pair(sums + (long long)row * HEAD_DIM + column, acc[i][half][2 * r], acc[i][half][2 * r + 1]);
                }
            }
        }
    }
}

// dK and dV; unless DETERMINISTIC also the sums of dQ, which still lack the scale.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash2_backward_keys(const element* q, const element* k, const element* v, const element* grad_output,
                         const float* lse, const float* delta, float* dq_sums, element* dk, element* dv, int group,
                         int seqlen_q, int seqlen_k, int window_left, int window_right, float scale, const int* kept) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned shared_k = shared_address(shared), shared_v = shared_k + Outer::BYTES;
    const unsigned shared_q = shared_v + Outer::BYTES;  // two stages of Q and, behind each, dO
    const unsigned shared_ds = shared_q + STAGES * STAGE;
    unsigned char* const weights = shared + (shared_ds - shared_k);
    RowState* const states = reinterpret_cast<RowState*>(weights + Weights::BYTES);  // two stages

    const int tiles_k = (seqlen_k + OUTER - 1) / OUTER, tiles_q = (seqlen_q + INNER - 1) / INNER;
    const int part = blockIdx.x % PARTS, block = blockIdx.x / PARTS;
    const long long kv_head = block / tiles_k;
    const int k0 = block % tiles_k * OUTER, keys = min(OUTER, seqlen_k - k0);
    const long long first_key = kv_head * seqlen_k + k0;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
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
            Inner::copy(target, Inner::thread_source(q + row * HEAD_DIM, HEAD_DIM), HEAD_DIM, rows, HEAD_DIM);
            Inner::copy(target + Inner::BYTES, Inner::thread_source(grad_output + row * HEAD_DIM, HEAD_DIM), HEAD_DIM,
                        rows, HEAD_DIM);
            for (int i = threadIdx.x; i < INNER; i += THREADS) {
                states[stage * INNER + i] = RowState::of(lse, delta, row + i, i < rows);
            }
        }
        commit_copies();
    };

    Outer::copy(Outer::thread_target(shared_k), Outer::thread_source(k + first_key * HEAD_DIM, HEAD_DIM), HEAD_DIM, keys,
                HEAD_DIM);
    Outer::copy(Outer::thread_target(shared_v), Outer::thread_source(v + first_key * HEAD_DIM, HEAD_DIM), HEAD_DIM, keys,
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
        wait_copies<0>();
        __syncthreads();  // this Q and dO are complete, the previous ones and dS done with
        copy(following, 1 - stage);
        const unsigned here_q = shared_q + stage * STAGE, here_grad = here_q + Inner::BYTES;
        const RowState* const state = states + stage * INNER + lane % 4 * 2;

        float p[SUBTILES][INNER / 8][4], ds[SUBTILES][INNER / 8][4];
        multiply_rows<Inner>(p, left_k, here_q + Inner::lane_columns_first(lane));
        multiply_rows<Inner>(ds, left_v, here_grad + Inner::lane_columns_first(lane));
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
        if (!whole(mask, q0, last_q, k0, OUTER)) hide<true>(p, mask, k0 + warp_row, q0);
        multiply_columns<Inner>(acc_v, p, here_grad + lane_part);
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) ds[i][n][c] *= p[i][n][c];
            }
        }
        multiply_columns<Inner>(acc_k, ds, here_q + lane_part);
#if !DETERMINISTIC
        put_weights(weights, ds, warp_row);
        __syncthreads();  // all of dS is there
        add_queries(shared_ds, shared_k, dq_sums + first_row(step) * HEAD_DIM, last_q + 1 - q0, part);
#endif
        step = following;
        stage = 1 - stage;
    }

    wait_copies<0>();
    __syncthreads();  // K and V are done with
    scale_all(acc_k, scale);
    const long long out = first_key * HEAD_DIM + part * PART_WIDTH;
    const int columns = HEAD_DIM - part * PART_WIDTH;
    store_rows<Part>(shared, acc_k, warp_row, dk + out, HEAD_DIM, keys, columns);
    store_rows<Part>(shared + Part::BYTES, acc_v, warp_row, dv + out, HEAD_DIM, keys, columns);
}

// dQ alone: a block owns OUTER queries and passes by the keys that they see, INNER at a time, in the same order always.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash2_backward_queries(const element* q, const element* k, const element* v, const element* grad_output,
                            const float* lse, const float* delta, element* dq, int group, int seqlen_q, int seqlen_k,
                            int window_left, int window_right, float scale, const int* kept) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned shared_q = shared_address(shared), shared_grad = shared_q + Outer::BYTES;
    const unsigned shared_k = shared_grad + Outer::BYTES;  // two stages of K and, behind each, V

    const int tiles_q = (seqlen_q + OUTER - 1) / OUTER, steps = (seqlen_k + INNER - 1) / INNER;
    const long long head = blockIdx.x / tiles_q;
    const int q0 = blockIdx.x % tiles_q * OUTER, rows = min(OUTER, seqlen_q - q0);
    const long long first_row = head * seqlen_q + q0, first_key = head / group * seqlen_k;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const unsigned lane_rows = Outer::lane_rows_first(lane) + warp_row * Outer::ROW_BYTES;
    const Rows<Outer, SUBTILES, false> left_q{shared_q + lane_rows}, left_grad{shared_grad + lane_rows};
    auto next = [&](int step) {
        while (step < steps && !meet(mask, kept, q0, q0 + rows - 1, step * INNER, INNER)) ++step;
        return step;
    };
    auto copy = [&](int step, int stage) {
        if (step < steps) {
            const int keys = seqlen_k - step * INNER;
            const long long start = (first_key + step * INNER) * HEAD_DIM;
            const unsigned target = Inner::thread_target(shared_k + stage * STAGE);
            Inner::copy(target, Inner::thread_source(k + start, HEAD_DIM), HEAD_DIM, keys, HEAD_DIM);
            Inner::copy(target + Inner::BYTES, Inner::thread_source(v + start, HEAD_DIM), HEAD_DIM, keys, HEAD_DIM);
        }
        commit_copies();
    };

    Outer::copy(Outer::thread_target(shared_q), Outer::thread_source(q + first_row * HEAD_DIM, HEAD_DIM), HEAD_DIM, rows,
                HEAD_DIM);
    Outer::copy(Outer::thread_target(shared_grad), Outer::thread_source(grad_output + first_row * HEAD_DIM, HEAD_DIM),
                HEAD_DIM, rows, HEAD_DIM);
    int step = next(0), stage = 0;
    copy(step, 0);
    RowState state[SUBTILES][2];
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = warp_row + i * 16 + lane / 4 + 8 * r;
            state[i][r] = RowState::of(lse, delta, first_row + row, row < rows);
        }
    }
    float acc[SUBTILES][WIDTH / 8][4] = {};
    const float factor = scale * LOG2E;
#pragma unroll 1
    while (step < steps) {
        const int following = next(step + 1), k0 = step * INNER;
        wait_copies<0>();
        __syncthreads();  // this K and V are complete, the previous ones done with
        copy(following, 1 - stage);
        const unsigned here_k = shared_k + stage * STAGE, here_v = here_k + Inner::BYTES;

        float p[SUBTILES][INNER / 8][4], ds[SUBTILES][INNER / 8][4];
        multiply_rows<Inner>(p, left_q, here_k + Inner::lane_columns_first(lane));
        multiply_rows<Inner>(ds, left_grad, here_v + Inner::lane_columns_first(lane));
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) p[i][n][c] = state[i][c / 2].probability(p[i][n][c], factor);
            }
        }
        if (!whole(mask, q0, q0 + rows - 1, k0, INNER)) hide<false>(p, mask, q0 + warp_row, k0);
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < INNER / 8; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) ds[i][n][c] = p[i][n][c] * (ds[i][n][c] - state[i][c / 2].delta);
            }
        }
        multiply_columns<Inner>(acc, ds, here_k + Inner::lane_rows_first(lane));
        step = following;
        stage = 1 - stage;
    }

    wait_copies<0>();
    __syncthreads();  // Q is done with
    scale_all(acc, scale);
    store_rows<Outer>(shared, acc, warp_row, dq + first_row * HEAD_DIM, HEAD_DIM, rows, HEAD_DIM);
}

// Last pass, one thread for eight elements of dQ: times the scale, to the element type.
extern "C" __global__ void flash2_backward_finish(const float* sums, element* dq, float scale, long long chunks) {
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= chunks) return;
    const float4 a = reinterpret_cast<const float4*>(sums)[2 * index],
                 b = reinterpret_cast<const float4*>(sums)[2 * index + 1];
    reinterpret_cast<uint4*>(dq)[index] = make_uint4(pack(a.x * scale, a.y * scale), pack(a.z * scale, a.w * scale),
                                                     pack(b.x * scale, b.y * scale), pack(b.z * scale, b.w * scale));
}
