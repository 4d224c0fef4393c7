// standard, backward: dQ, dK and dV from P, which the forward pass has left in HBM, on the tensor cores with mma.sync.
// Rows of P and dS are a multiple of 8 elements long, `stride`.
//
// Idea: the chain rule, each step as a kernel of its own: dS = P (dO V^T - delta), dV = P^T dO, dK = scale dS^T Q and
// dQ = scale dS K. The three products are one function; tiles that the masks empty are neither computed nor read.
// Changed from its predecessor: it has none; this is what recomputation replaces. dP never reaches HBM: dS is made of
// it where it is computed.
// Limit: HBM. P is read twice, dS written once and read twice: 5 Nq Nk elements a head, and P is kept from the forward
// pass of every layer until its backward pass.
// Known to be wrong with it: memory grows with Nq * Nk. Measured on an H200 in bfloat16, N = 4k (TFLOP/s): d = 64 226,
// d = 128 369, d = 256 304; flash2, which keeps no P, 345, 305 and 251.
#include "backward.cuh"

constexpr int THREADS = WARPS * 32;
constexpr int TILE = WARPS * SUBTILES * 16;  // queries and keys of a tile
constexpr int STEP = TILE < 64 ? TILE : 64;  // depth of one step of a product along queries or keys
constexpr int WIDTH = round_up(HEAD_DIM, 16);
using Whole = Tile<TILE, WIDTH, THREADS>;  // rows of Q, K, V, dO, or of a gradient
using Square = Tile<TILE, TILE, THREADS>;  // of P or dS

// Tile (q0, k0) of one head: block blockIdx.x, the keys innermost.
struct Place {
    long long head;
    int q0, k0, rows;

    static __device__ __forceinline__ Place of(int seqlen_q, int seqlen_k) {
        const int tiles_q = (seqlen_q + TILE - 1) / TILE, tiles_k = (seqlen_k + TILE - 1) / TILE;
        const int tile = blockIdx.x % (tiles_q * tiles_k), q0 = tile / tiles_k * TILE;
        return Place{blockIdx.x / (tiles_q * tiles_k), q0, tile % tiles_k * TILE, min(TILE, seqlen_q - q0)};
    }
};

// x = left right^T, TILE rows of each: Q and K, or dO and V, over the whole head dim.
__device__ __forceinline__ void multiply_tile(unsigned char* shared, const element* left, const element* right, int rows,
                                              int keys, int warp_row, float (&x)[SUBTILES][TILE / 8][4]) {
    const unsigned shared_left = shared_address(shared), shared_right = shared_left + Whole::BYTES;
    const int lane = threadIdx.x % 32;
    Whole::copy(Whole::thread_target(shared_left), Whole::thread_source(left, HEAD_DIM), HEAD_DIM, rows, HEAD_DIM);
    Whole::copy(Whole::thread_target(shared_right), Whole::thread_source(right, HEAD_DIM), HEAD_DIM, keys, HEAD_DIM);
    commit_copies();
    wait_copies<0>();
    __syncthreads();
    const Rows<Whole, SUBTILES, false> a{shared_left + Whole::lane_rows_first(lane) + warp_row * Whole::ROW_BYTES};
    multiply_rows<Whole>(x, a, shared_right + Whole::lane_columns_first(lane));
    __syncthreads();  // the tiles are done with
}

// delta of every row, a warp a row.
extern "C" __global__ void standard_backward_rows(const element* o, const element* grad_output, float* delta,
                                                  long long rows) {
    const long long row = (long long)blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= rows) return;
    const float sum = row_delta(o + row * HEAD_DIM, grad_output + row * HEAD_DIM);
    if (threadIdx.x % 32 == 0) delta[row] = sum;
}

// P = exp(S - LSE), hidden entries 0: what the forward pass leaves, made once.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    standard_backward_weights(const element* q, const element* k, const float* lse, element* p, int group, int seqlen_q,
                              int seqlen_k, int window_left, int window_right, float scale, long long stride,
                              const int* kept) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Place at = Place::of(seqlen_q, seqlen_k);
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    if (!meet(mask, kept, at.q0, at.q0 + at.rows - 1, at.k0, TILE)) return;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const long long first_row = at.head * seqlen_q + at.q0, first_key = at.head / group * seqlen_k + at.k0;
    float s[SUBTILES][TILE / 8][4];
    multiply_tile(shared, q + first_row * HEAD_DIM, k + first_key * HEAD_DIM, at.rows, seqlen_k - at.k0, warp_row, s);
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = warp_row + i * 16 + lane / 4 + 8 * r;
            const RowState state = RowState::of(lse, lse, first_row + row, row < at.rows);
#pragma unroll
            for (int n = 0; n < TILE / 8; ++n) {
#pragma unroll
                for (int c = 2 * r; c < 2 * r + 2; ++c) s[i][n][c] = state.probability(s[i][n][c], scale * LOG2E);
            }
        }
    }
    if (!whole(mask, at.q0, at.q0 + at.rows - 1, at.k0, TILE)) hide<false>(s, mask, at.q0 + warp_row, at.k0);
    store_rows<Square>(shared, s, warp_row, p + first_row * stride + at.k0, stride, at.rows, int(stride) - at.k0);
}

// dS = P (dO V^T - delta), the scale left out.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    standard_backward_scores(const element* p, const float* delta, const element* v, const element* grad_output,
                             element* ds, int group, int seqlen_q, int seqlen_k, int window_left, int window_right,
                             long long stride, const int* kept) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const Place at = Place::of(seqlen_q, seqlen_k);
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    if (!meet(mask, kept, at.q0, at.q0 + at.rows - 1, at.k0, TILE)) return;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const long long first_row = at.head * seqlen_q + at.q0, first_key = at.head / group * seqlen_k + at.k0;
    unsigned char* const weights = shared + 2 * Whole::BYTES;
    Square::copy(Square::thread_target(shared_address(weights)),
                 Square::thread_source(p + first_row * stride + at.k0, stride), stride, at.rows, int(stride) - at.k0);
    float x[SUBTILES][TILE / 8][4];
    multiply_tile(shared, grad_output + first_row * HEAD_DIM, v + first_key * HEAD_DIM, at.rows, seqlen_k - at.k0,
                  warp_row, x);
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = warp_row + i * 16 + lane / 4 + 8 * r;
            const float row_delta = row < at.rows ? delta[first_row + row] : 0.0f;
#pragma unroll
            for (int n = 0; n < TILE / 8; ++n) {
                const unsigned char* const pair = weights + Square::offset(row, n) + lane % 4 * 4;
                const float2 pair_p = unpack(*reinterpret_cast<const unsigned*>(pair));
                x[i][n][2 * r] = pair_p.x * (x[i][n][2 * r] - row_delta);
                x[i][n][2 * r + 1] = pair_p.y * (x[i][n][2 * r + 1] - row_delta);
            }
        }
    }
    store_rows<Square>(weights, x, warp_row, ds + first_row * stride + at.k0, stride, at.rows, int(stride) - at.k0);
}

// out = factor * matrix right, or (TRANSPOSED) matrix^T right summed over the query heads of a group. `matrix` is P or
// dS of every query head, `right` and `out` rows of HEAD_DIM. A block makes TILE rows of `out`.
template <bool TRANSPOSED>
__device__ __forceinline__ void multiply_matrix(const element* matrix, const element* right, element* out, int group,
                                                int seqlen_q, int seqlen_k, int window_left, int window_right,
                                                float factor, long long stride, const int* kept) {
    using Left = Tile<TRANSPOSED ? STEP : TILE, TRANSPOSED ? TILE : STEP, THREADS>;
    using Right = Tile<STEP, WIDTH, THREADS>;
    constexpr int STAGE = Left::BYTES + Right::BYTES, PARTS = TILE / STEP;
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned base = shared_address(shared);  // two stages

    const int length = TRANSPOSED ? seqlen_k : seqlen_q, depth = TRANSPOSED ? seqlen_q : seqlen_k;
    const int tiles_out = (length + TILE - 1) / TILE, tiles_in = (depth + TILE - 1) / TILE;
    const long long head = blockIdx.x / tiles_out;
    const int out0 = blockIdx.x % tiles_out * TILE, rows = min(TILE, length - out0);
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    // A step: a part of a tile of one head.
    const int steps = (TRANSPOSED ? group : 1) * tiles_in * PARTS;
    auto next = [&](int step) {
        while (step < steps) {
            const int in0 = step / PARTS % tiles_in * TILE, q0 = TRANSPOSED ? in0 : out0, k0 = TRANSPOSED ? out0 : in0;
            if (meet(mask, kept, q0, min(q0 + TILE, seqlen_q) - 1, k0, TILE)) break;
            step = (step / PARTS + 1) * PARTS;
        }
        return step;
    };
    auto copy = [&](int step, int stage) {
        if (step < steps) {
            const int in = step / PARTS % tiles_in * TILE + step % PARTS * STEP;
            const int row = TRANSPOSED ? in : out0, column = TRANSPOSED ? out0 : in;
            const long long of = TRANSPOSED ? head * group + step / (PARTS * tiles_in) : head;
            const element* const left = matrix + (of * seqlen_q + row) * stride + column;
            const element* const from = right + ((TRANSPOSED ? of : head / group) * depth + in) * HEAD_DIM;
            const unsigned target = base + stage * STAGE;
            Left::copy(Left::thread_target(target), Left::thread_source(left, stride), stride, seqlen_q - row,
                       int(stride) - column);
            Right::copy(Right::thread_target(target + Left::BYTES), Right::thread_source(from, HEAD_DIM), HEAD_DIM,
                        depth - in, HEAD_DIM);
        }
        commit_copies();
    };

    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const unsigned lane_left = TRANSPOSED ? Left::lane_columns_first(lane) : Left::lane_rows_first(lane);
    const unsigned lane_right = Left::BYTES + Right::lane_rows_first(lane);
    float acc[SUBTILES][WIDTH / 8][4] = {};
    int step = next(0), stage = 0;
    copy(step, 0);
#pragma unroll 1
    while (step < steps) {
        const int following = next(step + 1);
        wait_copies<0>();
        __syncthreads();  // this step is complete, the previous one done with
        copy(following, 1 - stage);
        const unsigned here = base + stage * STAGE;
#pragma unroll
        for (int n = 0; n < STEP / 16; ++n) {
            unsigned a[SUBTILES][4];
#pragma unroll
            for (int i = 0; i < SUBTILES; ++i) {
                const int fragment = warp_row / 16 + i;
                if (TRANSPOSED) load_matrices_transposed(a[i], Left::at(here + lane_left, n, fragment));
                else load_matrices(a[i], Left::at(here + lane_left, fragment, n));
            }
            multiply_step<Right>(acc, a, here + lane_right, n);
        }
        step = following;
        stage = 1 - stage;
    }
    wait_copies<0>();
    __syncthreads();
    scale_all(acc, factor);
    store_rows<Whole>(shared, acc, warp_row, out + (head * length + out0) * HEAD_DIM, HEAD_DIM, rows, HEAD_DIM);
}

// dV = P^T dO and dK = scale dS^T Q.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    standard_backward_keys(const element* matrix, const element* right, element* out, int group, int seqlen_q,
                           int seqlen_k, int window_left, int window_right, float factor, long long stride,
                           const int* kept) {
    multiply_matrix<true>(matrix, right, out, group, seqlen_q, seqlen_k, window_left, window_right, factor, stride,
                          kept);
}

// dQ = scale dS K.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    standard_backward_queries(const element* matrix, const element* right, element* out, int group, int seqlen_q,
                              int seqlen_k, int window_left, int window_right, float factor, long long stride,
                              const int* kept) {
    multiply_matrix<false>(matrix, right, out, group, seqlen_q, seqlen_k, window_left, window_right, factor, stride,
                           kept);
}
