// simt_standard: attention as three launches, S = QK^T, P = softmax(S), O = PV, with S and P in HBM, in float
// arithmetic throughout: standard for float32.
//
// Idea: the textbook formula, each step as a good kernel of its own. Score tiles that the mask empties are neither
// computed nor read.
// Changed from its predecessor: it has none; this is what the tiled kernels are compared with, so it shares their
// micro-tile products and its softmax is as wide as HBM allows.
// Limit: HBM. S and P are each written and read once, 4 Nq Nk elements per head, on top of 4 Nq Nk d operations.
// Known to be wrong with it: memory grows with Nq * Nk, and the three steps wait for one another.
#include "key_walk.cuh"
#include "simt_softmax.cuh"

using Walk = KeyWalk<TILE_Q, TILE_K>;
constexpr int STEP = 32;  // depth of one step of QK^T through shared memory
constexpr int STEP_STRIDE = STEP + PAD;
constexpr int S_STRIDE = TILE_K + VECTOR;       // of the finished tile, in elements
constexpr int DEEPEST = HEAD_DIM > 128 ? 16 : 32;
constexpr int KEYS = TILE_K < DEEPEST ? TILE_K : DEEPEST;  // depth of one step of PV
constexpr int KEYS_STRIDE = KEYS + PAD;
constexpr int STAGES = 2;  // steps of PV in shared memory at a time

// One step of a score tile: WIDTH of the head's dimensions.
template <int WIDTH>
__device__ __forceinline__ void accumulate_scores(const element* q, const element* k, int rows, int keys,
                                                  float* shared_q, float* shared_k, float (&s)[ROWS][COLUMNS]) {
    constexpr int DEPTH = round_up(WIDTH, DEPTH_STEP);
    __syncthreads();  // the previous step's tiles are done with
    load_tile<TILE_Q, WIDTH, DEPTH>(q, HEAD_DIM, rows, shared_q);
    load_tile<TILE_K, WIDTH, DEPTH>(k, HEAD_DIM, keys, shared_k);
    commit_copies();
    wait_copies<0>();
    __syncthreads();
    multiply_rows<DEPTH, DEPTH + PAD>(shared_q, shared_k, s);
}

// S = scale * QK^T, masked entries -inf. One block a tile; it leaves through shared memory, in whole rows.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    simt_standard_scores(const element* q, const element* k, element* scores, int group, int seqlen_q, int seqlen_k,
                         int window_left, int window_right, float scale, const int* lists, const int* counts) {
    extern __shared__ __align__(16) unsigned char shared[];
    float* const shared_q = reinterpret_cast<float*>(shared);
    float* const shared_k = shared_q + TILE_Q * STEP_STRIDE;
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q, tiles_k = (seqlen_k + TILE_K - 1) / TILE_K;
    const int tile = blockIdx.x % (tiles_q * tiles_k), head = blockIdx.x / (tiles_q * tiles_k);
    const int q0 = tile / tiles_k * TILE_Q, rows = min(TILE_Q, seqlen_q - q0);
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const Walk walk = Walk::of<TILE_K>(mask, q0, q0 + rows - 1, lists, counts);
    if (tile % tiles_k * TILE_K >= walk.count) return;  // nothing of it is ever read
    const int k0 = walk.key(tile % tiles_k * TILE_K), keys = min(TILE_K, seqlen_k - k0);

    const long long first_row = (long long)head * seqlen_q + q0;
    q += first_row * HEAD_DIM;
    k += ((long long)(head / group) * seqlen_k + k0) * HEAD_DIM;
    float s[ROWS][COLUMNS] = {};
#pragma unroll 1
    for (int d = 0; d + STEP <= HEAD_DIM; d += STEP) {
        accumulate_scores<STEP>(q + d, k + d, rows, keys, shared_q, shared_k, s);
    }
    if constexpr (HEAD_DIM % STEP != 0) {
        constexpr int DONE = HEAD_DIM / STEP * STEP;
        accumulate_scores<HEAD_DIM % STEP>(q + DONE, k + DONE, rows, keys, shared_q, shared_k, s);
    }

    __syncthreads();  // Q and K are done with
    element* const finished = reinterpret_cast<element*>(shared);
#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        const int row = tile_row(i), begin = mask.begin(q0 + row) - k0, end = mask.end(q0 + row) - k0;
#pragma unroll
        for (int j = 0; j < COLUMNS; ++j) {
            const bool seen = tile_column(j) >= begin && tile_column(j) < end;
            const float x = seen ? s[i][j] * scale : MINUS_INFINITY;
            finished[row * S_STRIDE + tile_column(j)] = from_float(x);
        }
    }
    __syncthreads();
    scores += first_row * seqlen_k + k0;
    if (seqlen_k % VECTOR == 0) {
        constexpr int CHUNKS = TILE_K / VECTOR;
        for (int c = threadIdx.x; c < TILE_Q * CHUNKS; c += THREADS) {
            const int row = c / CHUNKS, column = c % CHUNKS * VECTOR;
            if (row < rows && column < keys) {
                store_vector(scores + (long long)row * seqlen_k + column,
                             load_vector(finished + row * S_STRIDE + column));
            }
        }
    } else {
        for (int c = threadIdx.x; c < TILE_Q * TILE_K; c += THREADS) {
            const int row = c / TILE_K, column = c % TILE_K;
            if (row < rows && column < keys)
                scores[(long long)row * seqlen_k + column] = finished[row * S_STRIDE + column];
        }
    }
}

// Loads or stores WIDTH neighbours of a row: one access when rows are aligned to it, else one each.
template <int WIDTH>
struct Piece {
    float x[WIDTH];
    __device__ __forceinline__ void load(const element* row, int at, int begin, int end) {
        if constexpr (WIDTH == VECTOR) {
            Vector v{};
            if (at < end) v = load_vector(row + at);
#pragma unroll
            for (int i = 0; i < WIDTH; ++i) x[i] = at + i >= begin && at + i < end ? to_float(v.x[i]) : MINUS_INFINITY;
        } else {
            x[0] = at >= begin && at < end ? to_float(row[at]) : MINUS_INFINITY;
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
__device__ __forceinline__ void softmax_row(const element* scores, element* probabilities, float* lse,
                                            const Walk& walk, int begin, int end, int written, float* shared) {
    constexpr int LANES = WHOLE_BLOCK ? THREADS : 32;
    const int lane = threadIdx.x % LANES;
    // The key at a place of the walk; `written`, which nothing is read or stored at, beyond its end.
    auto key = [&](int at) { return at < walk.count ? walk.key(at) : written; };
    Piece<WIDTH> run[CACHED];
    float top = MINUS_INFINITY;
#pragma unroll
    for (int c = 0; c < CACHED; ++c) {
        run[c].load(scores, key((c * LANES + lane) * WIDTH), begin, end);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) top = fmaxf(top, run[c].x[i]);
    }
    for (int at = (CACHED * LANES + lane) * WIDTH; at < walk.count; at += LANES * WIDTH) {
        Piece<WIDTH> far;
        far.load(scores, walk.key(at), begin, end);
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
    for (int at = (CACHED * LANES + lane) * WIDTH; at < walk.count; at += LANES * WIDTH) {
        Piece<WIDTH> far;
        far.load(scores, walk.key(at), begin, end);
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
        run[c].store(probabilities, key((c * LANES + lane) * WIDTH), written);
    }
    for (int at = (CACHED * LANES + lane) * WIDTH; at < walk.count; at += LANES * WIDTH) {
        Piece<WIDTH> far;
        far.load(scores, walk.key(at), begin, end);
#pragma unroll
        for (int i = 0; i < WIDTH; ++i) far.x[i] = exp2f((far.x[i] - origin) * LOG2E) * inverse;
        far.store(probabilities, walk.key(at), written);
    }
}

// P = softmax(S) and LSE, one warp or one block a row. Masked columns become 0 where another row of the same output
// tile sees keys: that tile reads them together.
template <bool WHOLE_BLOCK>
__device__ __forceinline__ void softmax(const element* scores, element* probabilities, float* lse, long long rows,
                                        int seqlen_q, int seqlen_k, int window_left, int window_right,
                                        const int* lists, const int* counts) {
    __shared__ float shared[2 * THREADS / 32];
    const long long row = WHOLE_BLOCK ? blockIdx.x : (long long)blockIdx.x * (THREADS / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const int q = row % seqlen_q;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    // What the rows of this tile read of P together.
    const int first = q / TILE_Q * TILE_Q, last = min(seqlen_q, first + TILE_Q) - 1;
    const Walk walk = Walk::of<KEYS>(mask, first, last, lists, counts);
    const int begin = mask.begin(q), end = max(0, mask.end(q)), written = max(0, mask.end(last));
    scores += row * seqlen_k;
    probabilities += row * seqlen_k;
    if (seqlen_k % VECTOR == 0) {
        softmax_row<VECTOR, 32 / VECTOR, WHOLE_BLOCK>(scores, probabilities, lse + row, walk, begin, end, written,
                                                      shared);
    } else {
        softmax_row<1, 16, WHOLE_BLOCK>(scores, probabilities, lse + row, walk, begin, end, written, shared);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    simt_standard_softmax_warp(const element* scores, element* probabilities, float* lse, long long rows, int seqlen_q,
                               int seqlen_k, int window_left, int window_right, const int* lists, const int* counts) {
    softmax<false>(scores, probabilities, lse, rows, seqlen_q, seqlen_k, window_left, window_right, lists, counts);
}

extern "C" __global__ void __launch_bounds__(THREADS)
    simt_standard_softmax_block(const element* scores, element* probabilities, float* lse, long long rows, int seqlen_q,
                                int seqlen_k, int window_left, int window_right, const int* lists, const int* counts) {
    softmax<true>(scores, probabilities, lse, rows, seqlen_q, seqlen_k, window_left, window_right, lists, counts);
}

// Begins to copy a tile of P; its rows are 16-byte aligned only when seqlen_k allows it.
__device__ __forceinline__ void load_probabilities(const element* source, int seqlen_k, int rows, int keys,
                                                   float* target) {
    if (seqlen_k % VECTOR == 0 && keys >= KEYS) {
        load_tile<TILE_Q, KEYS, KEYS>(source, seqlen_k, rows, target);
        return;
    }
    for (int c = threadIdx.x; c < TILE_Q * KEYS; c += THREADS) {
        const int row = c / KEYS, column = c % KEYS;
        const bool inside = row < rows && column < keys;
        const element x = inside ? source[(long long)row * seqlen_k + column] : element(0);
        target[row * KEYS_STRIDE + column] = to_float(x);
    }
}

// O = PV, one block TILE_Q rows of it; the next STAGES - 1 steps are on their way while one is multiplied.
extern "C" __global__ void __launch_bounds__(THREADS, 2)
    simt_standard_output(const element* probabilities, const element* v, element* o, int group, int seqlen_q,
                         int seqlen_k, int window_left, int window_right, const int* lists, const int* counts) {
    extern __shared__ __align__(16) unsigned char shared[];
    constexpr int P_SIZE = TILE_Q * KEYS_STRIDE, STAGE_SIZE = P_SIZE + KEYS * V_STRIDE;
    float* const stages = reinterpret_cast<float*>(shared);
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q;
    const int head = blockIdx.x / tiles_q, q0 = blockIdx.x % tiles_q * TILE_Q;
    const int rows = min(TILE_Q, seqlen_q - q0);
    const long long first_row = (long long)head * seqlen_q + q0;
    probabilities += first_row * seqlen_k;
    v += (long long)(head / group) * seqlen_k * HEAD_DIM;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int end = mask.end(q0 + rows - 1);
    const Walk walk = Walk::of<KEYS>(mask, q0, q0 + rows - 1, lists, counts);
    const int steps = (walk.count + KEYS - 1) / KEYS;

    auto load = [&](int step) {
        if (step < steps) {
            float* const stage = stages + step % STAGES * STAGE_SIZE;
            const int k0 = walk.key(step * KEYS);
            load_probabilities(probabilities + k0, seqlen_k, rows, end - k0, stage);
            load_tile<KEYS, HEAD_DIM, OUTPUT_WIDTH>(v + (long long)k0 * HEAD_DIM, HEAD_DIM, end - k0, stage + P_SIZE);
        }
        commit_copies();
    };
    for (int step = 0; step < STAGES - 1; ++step) load(step);
    float acc[ROWS][OUTPUTS] = {};
    for (int step = 0; step < steps; ++step) {
        wait_copies<STAGES - 2>();
        __syncthreads();  // this step's tiles are there, the previous one's are done with
        load(step + STAGES - 1);
        const float* const stage = stages + step % STAGES * STAGE_SIZE;
        multiply_columns<KEYS, KEYS_STRIDE>(stage, stage + P_SIZE, acc);
    }

#pragma unroll
    for (int i = 0; i < ROWS; ++i) {
        if (tile_row(i) < rows) store_row(o + (first_row + tile_row(i)) * HEAD_DIM, acc[i], 1.0f);
    }
}
