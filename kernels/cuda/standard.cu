// standard: attention as three launches, S = scale QK^T, P = softmax(S), O = PV, with S and P in HBM, on the tensor
// cores with mma.sync. Rows of S and P are a multiple of 8 elements long, `stride`.
//
// Idea: the textbook formula, each step as a good kernel of its own. Score tiles that the mask empties are neither
// computed nor read.
// Changed from its predecessor: it has none; this is what the tiled kernels are compared with, so it shares their
// products and each step is near its own roof.
// Limit: HBM. S and P are each written and read once, 4 Nq Nk elements a head. At N >= 8192, d = 128, without a mask,
// those bytes alone, at the speed of a device copy (4.3 TB/s), are 78 % of its time on an H200.
// Known to be wrong with it: memory grows with Nq * Nk, and the three steps wait for one another.
//
// Tried on an H200, QK^T at N = 8192, d = 128 (writing S alone: 1.00 ms): S staged in shared memory of its own 2.05 ms;
// Q in registers, S through Q's place, three blocks an SM 1.73; 16 key tiles a block 1.68, kept. 128 keys a tile, 8
// warps, streaming stores: slower or no gain. The scale's power of two into Q, the rest into the softmax: 1.64,
// dropped, since S is then rounded at another place than in plain 16-bit attention, the measure of its LSE. Softmax: a
// row in the registers of 128 to 512 threads reaches 95 % of copy speed; causal rows take 128 and a second pass, -30 %
// time.
#include "product.cuh"
#include "softmax.cuh"

constexpr int THREADS = WARPS * 32;
constexpr int TILE_Q = WARPS * SUBTILES * 16;
constexpr int WIDTH = round_up(HEAD_DIM, 16);
constexpr int SPAN = SPAN_TILES * SCORES_K;  // keys of one block of standard_scores
using TileQ = Tile<TILE_Q, WIDTH, THREADS>;
using TileK = Tile<BLOCK_K, WIDTH, THREADS>;
using TileS = Tile<TILE_Q, BLOCK_K, THREADS>;
using ScoresK = Tile<SCORES_K, WIDTH, THREADS>;
using ScoresS = Tile<TILE_Q, SCORES_K, THREADS>;
constexpr int SCORES_FIRST = TileQ::BYTES > ScoresS::BYTES ? TileQ::BYTES : ScoresS::BYTES;  // Q, then S on its way out

// S = scale QK^T, masked entries -inf. A block keeps its query rows and passes SPAN keys by them.
extern "C" __global__ void __launch_bounds__(THREADS, SCORES_BLOCKS)
    standard_scores(const element* q, const element* k, element* scores, int group, int seqlen_q, int seqlen_k,
                    int window_left, int window_right, float scale, long long stride) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned shared_q = shared_address(shared);
    const unsigned shared_k = shared_q + SCORES_FIRST;  // two stages

    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q, spans = (seqlen_k + SPAN - 1) / SPAN;
    const int head = blockIdx.x / (tiles_q * spans);
    const int span = blockIdx.x % spans, q0 = blockIdx.x / spans % tiles_q * TILE_Q;
    const int rows = min(TILE_Q, seqlen_q - q0);
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int begin = max(span * SPAN, mask.begin(q0) / SCORES_K * SCORES_K);
    const int end = min(span * SPAN + SPAN, mask.end(q0 + rows - 1));
    if (begin >= end) return;  // nothing of it is ever read
    const int full_begin = mask.begin(q0 + rows - 1), full_end = mask.end(q0);

    const long long first_row = (long long)head * seqlen_q + q0;
    k = ScoresK::thread_source(k + (long long)(head / group) * seqlen_k * HEAD_DIM, HEAD_DIM);
    scores += first_row * stride;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    Rows<TileQ, SUBTILES, true> left{shared_q + TileQ::lane_rows_first(lane) + warp_row * TileQ::ROW_BYTES};
    const unsigned lane_k = shared_k + ScoresK::lane_columns_first(lane), target_k = ScoresK::thread_target(shared_k);

    TileQ::copy(TileQ::thread_target(shared_q), TileQ::thread_source(q + first_row * HEAD_DIM, HEAD_DIM), HEAD_DIM,
                rows, HEAD_DIM);
    ScoresK::copy(target_k, k + (long long)begin * HEAD_DIM, HEAD_DIM, seqlen_k - begin, HEAD_DIM);
    commit_copies();
    wait_copies<0>();
    __syncthreads();
    left.keep();
    unsigned stage = 0;
#pragma unroll 1
    for (int k0 = begin; k0 < end; k0 += SCORES_K) {
        wait_copies<0>();
        __syncthreads();  // this K is complete, the previous one and Q's place done with
        const int next = k0 + SCORES_K;
        if (next < end)
            ScoresK::copy(target_k + (ScoresK::BYTES - stage), k + (long long)next * HEAD_DIM, HEAD_DIM,
                          seqlen_k - next, HEAD_DIM);
        commit_copies();
        float s[SUBTILES][SCORES_K / 8][4];
        multiply_rows<ScoresK>(s, left, lane_k + stage);
        stage = ScoresK::BYTES - stage;
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < SCORES_K / 8; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) s[i][n][c] *= scale;
            }
        }
        if (k0 + SCORES_K > full_end || k0 < full_begin) apply_mask(s, mask, q0 + warp_row, k0);
        store_rows<ScoresS>(shared, s, warp_row, scores + k0, stride, rows, int(stride) - k0);
    }
}

constexpr int ROW_WARPS = ROW_THREADS / 32;
constexpr int SOFTMAX_THREADS = ROW_THREADS > 128 ? ROW_THREADS : 128;
constexpr int BLOCK_ELEMENTS = ROW_THREADS * 8 * ROW_VECTORS;

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
    for (int i = 16; i > 0; i /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, i));
    return x;
}
__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
    for (int i = 16; i > 0; i /= 2) x += __shfl_xor_sync(0xffffffffu, x, i);
    return x;
}

// The vector of eight scores at `column` of a row that counts from begin to end; the others are -inf.
__device__ __forceinline__ void load_scores(const element* row, int column, int begin, int end, float (&x)[8]) {
    uint4 v = make_uint4(0, 0, 0, 0);
    if (column < end && column + 8 > begin) v = *reinterpret_cast<const uint4*>(row + column);
    const unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
        const float2 pair = unpack(w[c]);
        x[2 * c] = pair.x, x[2 * c + 1] = pair.y;
    }
    if (column < begin || column + 8 > end) {
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            if (column + c < begin || column + c >= end) x[c] = MINUS_INFINITY;
        }
    }
}

// P = softmax(S) and LSE. ROW_THREADS threads hold a row in registers, or pass over it in parts when it is
// longer than that: once for m and l, once more for P.
extern "C" __global__ void __launch_bounds__(SOFTMAX_THREADS)
    standard_softmax(const element* scores, element* probabilities, float* lse, int seqlen_q, int seqlen_k,
                     int window_left, int window_right, long long rows, long long stride) {
    constexpr float factor = LOG2E;
    __shared__ float partial[2][SOFTMAX_THREADS / 32];
    const int part = threadIdx.x % ROW_THREADS, warp = threadIdx.x / 32;
    const long long row = (long long)blockIdx.x * (SOFTMAX_THREADS / ROW_THREADS) + threadIdx.x / ROW_THREADS;
    if (row >= rows) return;  // whole warps, and whole blocks where warps work together
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int q = int(row % seqlen_q), first = q / TILE_Q * TILE_Q, last = min(seqlen_q, first + TILE_Q) - 1;
    const int begin = mask.begin(q), end = max(0, mask.end(q));
    // What the rows of this tile read of P together, in whole vectors.
    const int from = mask.begin(first) / BLOCK_K * BLOCK_K, to = min(int(stride), round_up(max(0, mask.end(last)), 8));
    scores += row * stride;
    probabilities += row * stride;

    float x[ROW_VECTORS][8];
    float m = MINUS_INFINITY, l = 0.0f, inverse = 0.0f, origin = 0.0f;
    const bool once = to - from <= BLOCK_ELEMENTS;
    for (int start = from; start < to; start += BLOCK_ELEMENTS) {
        float top = m;
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
            load_scores(scores, start + (i * ROW_THREADS + part) * 8, begin, end, x[i]);
        }
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
#pragma unroll
            for (int c = 0; c < 8; ++c) top = fmaxf(top, x[i][c]);
        }
        top = warp_max(top);
        if (ROW_WARPS > 1) {
            if (threadIdx.x % 32 == 0) partial[0][warp] = top;
            __syncthreads();
#pragma unroll
            for (int w = 0; w < ROW_WARPS; ++w) top = fmaxf(top, partial[0][warp / ROW_WARPS * ROW_WARPS + w]);
        }
        origin = exponent_origin(top, factor);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
#pragma unroll
            for (int c = 0; c < 8; ++c) {
                x[i][c] = exp2_approx(fmaf(x[i][c], factor, -origin));
                sum += x[i][c];
            }
        }
        sum = warp_sum(sum);
        if (ROW_WARPS > 1) {
            if (threadIdx.x % 32 == 0) partial[1][warp] = sum;
            __syncthreads();
            sum = 0.0f;
#pragma unroll
            for (int w = 0; w < ROW_WARPS; ++w) sum += partial[1][warp / ROW_WARPS * ROW_WARPS + w];
        }
        l = l * exp2_approx(fmaf(m, factor, -origin)) + sum;
        m = top;
    }
    if (part == 0) lse[row] = log_sum_exp(m, l, 1.0f);
    inverse = l > 0.0f ? reciprocal_approx(l) : 0.0f;
    for (int start = from; start < to; start += BLOCK_ELEMENTS) {
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
            const int column = start + (i * ROW_THREADS + part) * 8;
            if (!once) {
                load_scores(scores, column, begin, end, x[i]);
#pragma unroll
                for (int c = 0; c < 8; ++c) x[i][c] = exp2_approx(fmaf(x[i][c], factor, -origin));
            }
            uint4 v;
            v.x = pack(x[i][0] * inverse, x[i][1] * inverse), v.y = pack(x[i][2] * inverse, x[i][3] * inverse);
            v.z = pack(x[i][4] * inverse, x[i][5] * inverse), v.w = pack(x[i][6] * inverse, x[i][7] * inverse);
            if (column < to) *reinterpret_cast<uint4*>(probabilities + column) = v;
        }
    }
}

// O = PV, one block TILE_Q rows of it, three stages of BLOCK_K keys in flight.
extern "C" __global__ void __launch_bounds__(THREADS, OUTPUT_BLOCKS)
    standard_output(const element* probabilities, const element* v, element* o, int group, int seqlen_q, int seqlen_k,
                    int window_left, int window_right, long long stride) {
    constexpr int STAGE = TileS::BYTES + TileK::BYTES;
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned base = shared_address(shared);
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q;
    const int head = blockIdx.x / tiles_q;
    const int q0 = (CAUSAL ? tiles_q - 1 - blockIdx.x % tiles_q : blockIdx.x % tiles_q) * TILE_Q;
    const int rows = min(TILE_Q, seqlen_q - q0);
    const long long first_row = (long long)head * seqlen_q + q0;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int begin = mask.begin(q0) / BLOCK_K * BLOCK_K, end = max(0, mask.end(q0 + rows - 1));
    const int steps = max(0, (end - begin + BLOCK_K - 1) / BLOCK_K);
    probabilities = TileS::thread_source(probabilities + first_row * stride + begin, stride);
    v = TileK::thread_source(v + ((long long)(head / group) * seqlen_k + begin) * HEAD_DIM, HEAD_DIM);

    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const unsigned target_p = TileS::thread_target(base), target_v = TileK::thread_target(base + TileS::BYTES);
    auto copy = [&](int step) {
        if (step < steps) {
            const unsigned stage = step % 3 * STAGE;
            const long long k0 = (long long)step * BLOCK_K;
            TileS::copy(target_p + stage, probabilities + k0, stride, rows, end - begin - int(k0));
            TileK::copy(target_v + stage, v + k0 * HEAD_DIM, HEAD_DIM, seqlen_k - begin - int(k0), HEAD_DIM);
        }
        commit_copies();
    };
    copy(0);
    copy(1);
    float acc[SUBTILES][WIDTH / 8][4] = {};
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        wait_copies<1>();
        __syncthreads();  // this step is complete, the previous one done with
        copy(step + 2);
        const unsigned stage = base + step % 3 * STAGE;
        const Rows<TileS, SUBTILES, false> left{stage + TileS::lane_rows_first(lane) + warp_row * TileS::ROW_BYTES};
        const unsigned lane_v = stage + TileS::BYTES + TileK::lane_rows_first(lane);
#pragma unroll
        for (int n = 0; n < BLOCK_K / 16; ++n) {
            unsigned p[SUBTILES][4];
            left.get(n, p);
            multiply_step<TileK>(acc, p, lane_v, n);
        }
    }
    wait_copies<0>();
    __syncthreads();
    store_rows<TileQ>(shared, acc, warp_row, o + first_row * HEAD_DIM, HEAD_DIM, rows, HEAD_DIM);
}
