// standard: attention as three launches, S = QK^T, P = softmax(S), O = PV, with S and P in HBM.
//
// Idea: the textbook formula, each step as a good kernel of its own. Score tiles that causal masking empties are
// neither computed nor read.
// Changed from its predecessor: it has none; this is what the tiled kernels are compared with, so it shares their
// micro-tile products and its softmax is as wide as HBM allows.
// Limit: HBM. S and P are each written and read once, 4 Nq Nk elements per head, on top of 4 Nq Nk d operations.
// Known to be wrong with it: memory grows with Nq * Nk, and the three steps wait for one another.
#include "product.cuh"
#include "softmax.cuh"

constexpr int ROWS = TILE_Q / THREAD_ROWS;
constexpr int COLUMNS = TILE_K / THREAD_COLUMNS;
constexpr int GROUPS = round_up(HEAD_DIM, 32) / 32;
constexpr int DEPTH = 32;  // of one step through shared memory
constexpr int STRIDE = DEPTH + PAD;
constexpr int V_STRIDE = GROUPS * 32 + PAD;

// One step of a score tile: WIDTH of the head's dimensions, from d0 on.
template <int WIDTH>
__device__ __forceinline__ void accumulate_scores(const element* q, const element* k, int rows, int keys, int d0,
                                                  float scale, float* shared_q, float* shared_k,
                                                  float (&s)[ROWS][COLUMNS]) {
    __syncthreads();  // the previous step's tiles are done with
    load_tile<TILE_Q, WIDTH, STRIDE>(q + d0, HEAD_DIM, rows, shared_q, scale);
    load_tile<TILE_K, WIDTH, STRIDE, Grouped>(k + d0, HEAD_DIM, keys, shared_k);
    __syncthreads();
    multiply_rows<WIDTH, STRIDE>(shared_q, shared_k, s);
}

// S = scale * QK^T, masked entries -inf. One block a tile.
extern "C" __global__ void __launch_bounds__(THREADS, 3)
    standard_scores(const element* q, const element* k, element* scores, int seqlen_q, int seqlen_k, float scale) {
    __shared__ __align__(16) float shared_q[TILE_Q * STRIDE];
    __shared__ __align__(16) float shared_k[TILE_K * STRIDE];
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q, tiles_k = (seqlen_k + TILE_K - 1) / TILE_K;
    const int tile = blockIdx.x % (tiles_q * tiles_k), head = blockIdx.x / (tiles_q * tiles_k);
    const int q0 = tile / tiles_k * TILE_Q, k0 = tile % tiles_k * TILE_K;
    const int rows = min(TILE_Q, seqlen_q - q0), keys = min(TILE_K, seqlen_k - k0);
    const Mask mask{seqlen_k, seqlen_k - seqlen_q};
    if (mask.end(q0 + rows - 1) <= k0) return;  // nothing of it is ever read

    const long long first_row = (long long)head * seqlen_q + q0;
    q += first_row * HEAD_DIM;
    k += ((long long)head * seqlen_k + k0) * HEAD_DIM;
    float s[ROWS][COLUMNS] = {};
#pragma unroll 1
    for (int d0 = 0; d0 + DEPTH <= HEAD_DIM; d0 += DEPTH) {
        accumulate_scores<DEPTH>(q, k, rows, keys, d0, scale, shared_q, shared_k, s);
    }
    if constexpr (HEAD_DIM % DEPTH != 0) {
        accumulate_scores<HEAD_DIM % DEPTH>(q, k, rows, keys, HEAD_DIM / DEPTH * DEPTH, scale, shared_q, shared_k, s);
    }

    const bool vectors = seqlen_k % 4 == 0;
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = thread_row() + THREAD_ROWS * i;
        if (row >= rows) continue;
        const int end = mask.end(q0 + row) - k0;
#pragma unroll
        for (int j = 0; j < COLUMNS; j += 4) {
            const int column = thread_column() * 4 + j * THREAD_COLUMNS;
            element* const place = scores + (first_row + row) * seqlen_k + k0 + column;
            float x[4];
#pragma unroll
            for (int n = 0; n < 4; ++n) x[n] = column + n < end ? s[i][j + n] : MINUS_INFINITY;
            if (vectors && column < keys) store_four(place, make_float4(x[0], x[1], x[2], x[3]));
#pragma unroll
            for (int n = 0; n < 4; ++n) {
                if (!vectors && column + n < keys) place[n] = from_float(x[n]);
            }
        }
    }
}

// Loads or stores WIDTH neighbours of a row: one access when rows are aligned to it, else one each.
template <int WIDTH>
struct Run {
    float x[WIDTH];
    __device__ __forceinline__ void load(const element* row, int at, int end) {
        if constexpr (WIDTH == VECTOR) {
            Vector v{};
            if (at < end) v = load_vector(row + at);
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) x[i] = at + i < end ? to_float(v.x[i]) : MINUS_INFINITY;
        } else {
            x[0] = at < end ? to_float(row[at]) : MINUS_INFINITY;
        }
    }
    __device__ __forceinline__ void store(element* row, int at, int end) const {
        if (at >= end) return;
        if constexpr (WIDTH == VECTOR) {
            Vector v;
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) v.x[i] = from_float(x[i]);
            store_vector(row + at, v);
        } else {
            row[at] = from_float(x[0]);
        }
    }
};

// Over a warp, or over the four warps of a block when WHOLE_BLOCK: maximum, or sum, of one value a thread.
template <bool WHOLE_BLOCK, bool MAXIMUM>
__device__ __forceinline__ float reduce(float x, float* shared) {
#pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) {
        const float y = __shfl_xor_sync(0xffffffffu, x, lane);
        x = MAXIMUM ? fmaxf(x, y) : x + y;
    }
    if constexpr (WHOLE_BLOCK) {
        if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = x;
        __syncthreads();
        x = shared[0];
#pragma unroll
        for (int warp = 1; warp < THREADS / 32; ++warp) x = MAXIMUM ? fmaxf(x, shared[warp]) : x + shared[warp];
    }
    return x;
}

// One row of P = softmax(S) by LANES threads. Its first CACHED runs a thread stay in registers between the passes;
// what is longer is read three times, mostly from L2.
template <int WIDTH, int CACHED, bool WHOLE_BLOCK>
__device__ __forceinline__ void softmax_row(const element* scores, element* probabilities, float* lse, int end,
                                            int written, float* shared) {
    constexpr int LANES = WHOLE_BLOCK ? THREADS : 32;
    constexpr float LOG2E = 1.44269504088896341f;
    const int lane = threadIdx.x % LANES;
    Run<WIDTH> run[CACHED];
    float top = MINUS_INFINITY;
#pragma unroll
    for (int c = 0; c < CACHED; ++c) {
        run[c].load(scores, (c * LANES + lane) * WIDTH, end);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) top = fmaxf(top, run[c].x[i]);
    }
    for (int at = (CACHED * LANES + lane) * WIDTH; at < end; at += LANES * WIDTH) {
        Run<WIDTH> far;
        far.load(scores, at, end);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) top = fmaxf(top, far.x[i]);
    }
    const float m = reduce<WHOLE_BLOCK, true>(top, shared);
    const float origin = finite_max(m);

    float sum = 0.0f;
#pragma unroll
    for (int c = 0; c < CACHED; ++c) {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) sum += run[c].x[i] = exp2f((run[c].x[i] - origin) * LOG2E);
    }
    for (int at = (CACHED * LANES + lane) * WIDTH; at < end; at += LANES * WIDTH) {
        Run<WIDTH> far;
        far.load(scores, at, end);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) sum += exp2f((far.x[i] - origin) * LOG2E);
    }
    sum = reduce<WHOLE_BLOCK, false>(sum, shared + THREADS / 32);
    const float inverse = sum > 0.0f ? 1.0f / sum : 0.0f;
    if (lane == 0) *lse = sum > 0.0f ? m + logf(sum) : MINUS_INFINITY;

#pragma unroll
    for (int c = 0; c < CACHED; ++c) {
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) run[c].x[i] *= inverse;
        run[c].store(probabilities, (c * LANES + lane) * WIDTH, written);
    }
    for (int at = (CACHED * LANES + lane) * WIDTH; at < written; at += LANES * WIDTH) {
        Run<WIDTH> far;
        far.load(scores, at, end);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) far.x[i] = exp2f((far.x[i] - origin) * LOG2E) * inverse;
        far.store(probabilities, at, written);
    }
}

// P = softmax(S) and LSE, one warp or one block a row. Masked columns become 0 up to the last key that any row of
// the same output tile sees, which is as far as that tile reads.
template <bool WHOLE_BLOCK>
__device__ __forceinline__ void softmax(const element* scores, element* probabilities, float* lse, long long rows,
                                        int seqlen_q, int seqlen_k) {
    __shared__ float shared[2 * THREADS / 32];
    const long long row = WHOLE_BLOCK ? blockIdx.x : (long long)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const int q = row % seqlen_q;
    const Mask mask{seqlen_k, seqlen_k - seqlen_q};
    const int end = max(0, mask.end(q));
    const int written = max(0, mask.end(min(seqlen_q, q / TILE_Q * TILE_Q + TILE_Q) - 1));
    scores += row * seqlen_k;
    probabilities += row * seqlen_k;
    if (seqlen_k % VECTOR == 0) {
        softmax_row<VECTOR, 32 / VECTOR, WHOLE_BLOCK>(scores, probabilities, lse + row, end, written, shared);
    } else {
        softmax_row<1, 16, WHOLE_BLOCK>(scores, probabilities, lse + row, end, written, shared);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    standard_softmax_warp(const element* scores, element* probabilities, float* lse, long long rows, int seqlen_q,
                          int seqlen_k) {
    softmax<false>(scores, probabilities, lse, rows, seqlen_q, seqlen_k);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    standard_softmax_block(const element* scores, element* probabilities, float* lse, long long rows, int seqlen_q,
                           int seqlen_k) {
    softmax<true>(scores, probabilities, lse, rows, seqlen_q, seqlen_k);
}

// A tile of P to shared memory; rows of P are 16-byte aligned only when seqlen_k allows it.
__device__ __forceinline__ void load_probabilities(const element* source, int seqlen_k, int rows, int keys,
                                                   float* target) {
    if (seqlen_k % VECTOR == 0 && keys >= DEPTH) {
        load_tile<TILE_Q, DEPTH, STRIDE>(source, seqlen_k, rows, target);
        return;
    }
    for (int c = threadIdx.x; c < TILE_Q * DEPTH; c += THREADS) {
        const int row = c / DEPTH, column = c % DEPTH;
        const bool inside = row < rows && column < keys;
        target[row * STRIDE + column] = inside ? to_float(source[(long long)row * seqlen_k + column]) : 0.0f;
    }
}

// O = PV, one block TILE_Q rows of it.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    standard_output(const element* probabilities, const element* v, element* o, int seqlen_q, int seqlen_k) {
    __shared__ __align__(16) float shared_p[TILE_Q * STRIDE];
    __shared__ __align__(16) float shared_v[DEPTH * V_STRIDE];
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q;
    const int head = blockIdx.x / tiles_q, q0 = blockIdx.x % tiles_q * TILE_Q;
    const int rows = min(TILE_Q, seqlen_q - q0);
    const long long first_row = (long long)head * seqlen_q + q0;
    probabilities += first_row * seqlen_k;
    v += (long long)head * seqlen_k * HEAD_DIM;
    const Mask mask{seqlen_k, seqlen_k - seqlen_q};
    const int end = mask.end(q0 + rows - 1);
    clear_padding<DEPTH, HEAD_DIM, V_STRIDE>(shared_v);

    float4 acc[ROWS][GROUPS] = {};
    for (int k0 = 0; k0 < end; k0 += DEPTH) {
        __syncthreads();  // the previous step's tiles are done with
        load_probabilities(probabilities + k0, seqlen_k, rows, end - k0, shared_p);
        load_tile<DEPTH, HEAD_DIM, V_STRIDE>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, end - k0, shared_v);
        __syncthreads();
        multiply_columns<DEPTH, STRIDE, V_STRIDE>(shared_p, shared_v, acc);
    }

#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = thread_row() + THREAD_ROWS * i;
#pragma unroll
        for (int c = 0; c < GROUPS; ++c) {
            const int column = thread_column() * 4 + c * 32;
            if (row < rows && column < HEAD_DIM) store_four(o + (first_row + row) * HEAD_DIM + column, acc[i][c]);
        }
    }
}
