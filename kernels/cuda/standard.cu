// standard: attention as three launches, S = scale QK^T, P = softmax(S), O = PV, with S and P in HBM, on the tensor
// cores: mma.sync, and WARPGROUPS, on Hopper, wgmma. Rows of S and P are a multiple of 8 elements long, `stride`.
//
// Idea: the textbook formula, each step as a good kernel of its own. Score tiles that the mask empties are neither
// computed nor read.
// Changed from its predecessor: it has none; this is what the tiled kernels are compared with, so its products are
// those of flash2, on Hopper with the instruction of flash3, and each step is near its own roof.
// Limit: HBM. S and P are each written and read once, 4 Nq Nk elements a head. At d = 128 without a mask, those bytes
// alone, at the speed of a device copy (4.3 TB/s), are 93 % of its time on an H200 at N = 8192, 91 at 16384 and 88 at
// 32768.
// Known to be wrong with it: memory grows with Nq * Nk, and the three steps wait for one another.
//
// Tried on an H200 at its power limit, N = 8192, d = 128, 32 heads, bfloat16: ms of one step, or the time that a change
// adds to its reference in the same run.
// wgmma reads K and V from shared memory once for four warps, mma.sync once for each, and at the power limit the energy
// sets the time: after 40 ms at N = 32768 the clock is at 1.6 GHz instead of 2.0. There mma.sync reached 74 to 81 % of
// the roof, and at any N was as slow a score once it ran for a third of a second; copies of 32 GiB were not slower.
// QK^T, wgmma 1.28 (mma.sync 1.49):
//   64 keys a tile; 64 rows a block                + 11 %; + 13 %
//   4 warps of two sub-tiles                       - 4 to 0 %
//   S by bulk copies from shared memory            + 40 to 65 %
//   spans of 8 tiles; the next K copied under it   - 1 to + 5 %; - 1 to + 3 %
// PV, wgmma 1.10 (mma.sync 1.39):
//   P and V copied before the product, not under   + 6 %, at N = 32768 + 16; at d = 64 - 1
//   4 warps of two sub-tiles, two blocks an SM     - 3 to + 1 %
//   by TMA, P first to be evicted or not           + 2 to 7 %
//   64 rows a block; those and 128 keys, 2 stages  + 7 to 18 %; + 28 %
// Both, mma.sync: the key tiles of neighbouring blocks interleaved, 4 q tiles or all of a head beside each other, P
// first to be evicted or fetched in 128 or 256 bytes, keys begun elsewhere in every block: - 3 to + 3 %; at longer N no
// more than the clock's drift.
// QK^T, mma.sync (the products alone 1.16, the stores alone 1.38):
//   S through shared memory, as it was             1.82, 4 warps of 32 rows x 64 keys, three blocks an SM
//   K in the order of 16-byte runs, no detour      1.53, kept
//   ... stores first to be evicted                 1.49, kept; write-through, no L1 or an L2 policy do the same
//   ... two rows of 128 bytes a store, by shuffles 1.56; with plain stores 2.32
//   32 keys of sums at a time                      + 6 %
//   48 or 64 rows a warp, two blocks an SM         + 6 to 16 %
//   2 x 2 warps, 64 rows x 128 keys a block        + 11 %, though the stores alone then take 1.22
//   2 warps a block; 8; longer spans               + 7 to 10 %; + 33 %; 0 to + 4 %
// PV, mma.sync (1.38 to 1.43):
//   P from HBM into the registers that multiply it 1.55 at best: too few bytes in flight; from L1 1.42
//   2 x 2 warps of 64 rows x 64 columns            + 2 %
//   32 keys a step, 8 warps a block, four stages   + 5 to 43 %
//   a running offset in place of step % 3          + 8 %: the compiler places the matrix loads worse
// Softmax, of a device copy's speed: a row's scores in registers as they came 99 %, at N = 16384 and 32768 97; its
// exponentials in float32 instead, so that fewer rows are in flight, 98, 94 and, read twice, 78. A row in 1024 threads
// 89; fewer than 4 blocks of 512 threads at N = 8192 92. Streaming loads + 5 %; S walked backwards, to meet what L2
// still holds, 0; causal rows in one part + 18 % at N = 8192, + 8 at 1024, so most read the longer ones twice.
// The scale's power of two into Q, the rest into the softmax: dropped, S is then rounded at another place than in plain
// 16-bit attention, the measure of its LSE. FLOAT_SCORES (standard-fp32s) does not round it at all, for half as many
// bytes again.
#include "key_walk.cuh"
#include "launch_order.cuh"
#include "product.cuh"
#include "scores.cuh"
#include "softmax.cuh"
#if WARPGROUPS
#include "warpgroup.cuh"
template <int ROWS, int WIDTH, int THREADS, typename Order = InOrder>
using Operand = Panels<ROWS, WIDTH, THREADS, Order>;
#else
template <int ROWS, int WIDTH, int THREADS, typename Order = InOrder>
using Operand = Tile<ROWS, WIDTH, THREADS, Order>;
__device__ __forceinline__ void publish_copies() {}
#endif

constexpr int WIDTH = round_up(HEAD_DIM, 16);

using ScoreOrder = RunOrder<SCORE_RUN>;
constexpr int SCORES_THREADS = SCORES_WARPS * 32;
constexpr int SCORES_Q = SCORES_WARPS * SCORES_SUBTILES * 16;
constexpr int SPAN = SPAN_TILES * SCORES_K;  // keys of one block of standard_scores
using ScoresQ = Operand<SCORES_Q, WIDTH, SCORES_THREADS>;
using ScoresK = Operand<SCORES_K, WIDTH, SCORES_THREADS, ScoreOrder>;

constexpr int THREADS = WARPS * 32;  // of standard_output, and its tiles
constexpr int TILE_Q = WARPS * SUBTILES * 16;
using TileV = Operand<BLOCK_K, WIDTH, THREADS>;
using TileP = Operand<TILE_Q, BLOCK_K, THREADS>;
using TileO = Tile<TILE_Q, WIDTH, THREADS>;
using Walk = KeyWalk<TILE_Q, BLOCK_K>;

// A warp's rows of a tile of S, 16 bytes from every lane, straight from the fragments. `target`: the lane's first
// score; `rows` and `columns` count from there. S is larger than L2 and read much later: first to be evicted.
template <int MT, int COLUMNS>
__device__ __forceinline__ void store_scores(const float (&s)[MT][COLUMNS][4], score* target, long long stride,
                                             int rows, int columns) {
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = i * 16 + 8 * r;
#pragma unroll
            for (int n = 0; n < COLUMNS; n += SCORE_RUN / 2) {
                unsigned x[4];
#pragma unroll
                for (int c = 0; c < 4; ++c) {
                    if constexpr (FLOAT_SCORES) x[c] = __float_as_uint(s[i][n + c / 2][2 * r + c % 2]);
                    else x[c] = pack(s[i][n + c][2 * r], s[i][n + c][2 * r + 1]);
                }
                if (row < rows && n * 8 < columns) {
                    __stcs(reinterpret_cast<uint4*>(target + row * stride + n * 8),
                           make_uint4(x[0], x[1], x[2], x[3]));
                }
            }
        }
    }
}

// S = scale QK^T, masked entries -inf. A block keeps its query rows and passes SPAN keys by them.
extern "C" __global__ void __launch_bounds__(SCORES_THREADS, SCORES_BLOCKS)
    standard_scores(const element* q, const element* k, score* scores, int group, int seqlen_q, int seqlen_k,
                    int window_left, int window_right, float scale, long long stride, const int* lists,
                    const int* counts) {
    let_next_launch_begin();
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned base = shared_address(shared);  // Q, then two stages of K: in its place or, with wgmma, behind it

    const int tiles_q = (seqlen_q + SCORES_Q - 1) / SCORES_Q, spans = (seqlen_k + SPAN - 1) / SPAN;
    const int head = blockIdx.x / (tiles_q * spans);
    const int span = blockIdx.x % spans, q0 = blockIdx.x / spans % tiles_q * SCORES_Q;
    const int rows = min(SCORES_Q, seqlen_q - q0);
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const Walk walk = Walk::of<SCORES_K>(mask, q0, q0 + rows - 1, lists, counts);
    const int begin = span * SPAN, end = min(begin + SPAN, walk.count);
    if (begin >= end) return;  // nothing of it is ever read
    const int full_begin = mask.begin(q0 + rows - 1), full_end = mask.end(q0);

    const long long first_row = (long long)head * seqlen_q + q0;
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SCORES_SUBTILES * 16;
    ScoresQ::copy(ScoresQ::thread_target(base), ScoresQ::thread_source(q + first_row * HEAD_DIM, HEAD_DIM), HEAD_DIM,
                  rows, HEAD_DIM);
#if WARPGROUPS
    const unsigned left = ScoresQ::group(base), first_k = base + ScoresQ::BYTES, lane_k = first_k;
#else
    commit_copies();
    wait_copies<0>();
    __syncthreads();
    Rows<ScoresQ, SCORES_SUBTILES, true> left{base + ScoresQ::lane_rows_first(lane) + warp_row * ScoresQ::ROW_BYTES};
    left.keep();
    __syncthreads();  // Q's place is free
    const unsigned first_k = base, lane_k = first_k + ScoresK::lane_columns_first(lane);
#endif
    const unsigned target_k = ScoresK::thread_target(first_k);
    k = ScoresK::thread_source(k + (long long)(head / group) * seqlen_k * HEAD_DIM, HEAD_DIM);
    auto copy_k = [&](int at, unsigned stage) {
        if (at < end) {
            const int k0 = walk.key(at);
            ScoresK::copy(target_k + stage, k + (long long)k0 * HEAD_DIM, HEAD_DIM, seqlen_k - k0, HEAD_DIM);
        }
        commit_copies();
    };
    copy_k(begin, 0);
    const int lane_row = warp_row + lane / 4, lane_column = lane % 4 * SCORE_RUN;
    scores += (first_row + lane_row) * stride + lane_column;
    unsigned stage = 0;
#pragma unroll 1
    for (int at = begin; at < end; at += SCORES_K) {
        wait_copies<0>();
        publish_copies();
        __syncthreads();  // this K is complete, the previous one done with
        copy_k(at + SCORES_K, ScoresK::BYTES - stage);
        const int k0 = walk.key(at);
        float s[SCORES_SUBTILES][SCORES_K / 8][4];
#if WARPGROUPS
        multiply_rows<ScoresQ, ScoresK>(s, left, lane_k + stage);
#else
        multiply_rows<ScoresK>(s, left, lane_k + stage);
#endif
        stage = ScoresK::BYTES - stage;
#pragma unroll
        for (int i = 0; i < SCORES_SUBTILES; ++i) {
#pragma unroll
            for (int n = 0; n < SCORES_K / 8; ++n) {
#pragma unroll
                for (int c = 0; c < 4; ++c) s[i][n][c] *= scale;
            }
        }
        if (k0 + SCORES_K > full_end || k0 < full_begin) apply_mask<ScoreOrder>(s, mask, q0 + warp_row, k0);
        store_scores(s, scores + k0, stride, rows - lane_row, int(stride) - k0 - lane_column);
    }
}

constexpr int ROW_WARPS = ROW_THREADS / 32;
constexpr int SOFTMAX_THREADS = ROW_THREADS > 128 ? ROW_THREADS : 128;
constexpr int PART = ROW_THREADS * 8 * ROW_VECTORS;  // scores of a row that are in registers at a time
#if __CUDA_ARCH__ == 750
constexpr int SM_THREADS = 1024;  // an SM holds at most
#elif __CUDA_ARCH__ == 860 || __CUDA_ARCH__ == 890 || __CUDA_ARCH__ == 1200
constexpr int SM_THREADS = 1536;
#else
constexpr int SM_THREADS = 2048;
#endif
constexpr int RESIDENT = 65536 / ROW_REGISTERS < SM_THREADS ? 65536 / ROW_REGISTERS : SM_THREADS;
constexpr int SOFTMAX_BLOCKS = RESIDENT / SOFTMAX_THREADS;

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

// The threads of one row have come so far. Two rows of a block have a barrier each; their numbers are constants, as a
// number in a register takes all 16 barriers of a block, and an SM then holds few blocks.
static_assert(ROW_WARPS == 1 || 2 * ROW_THREADS >= SOFTMAX_THREADS, "a block has one row or two");
template <int BARRIER>
__device__ __forceinline__ void wait_at() {
    asm volatile("bar.sync %0, %1;" ::"n"(BARRIER), "n"(ROW_THREADS) : "memory");
}
__device__ __forceinline__ void row_barrier() {
    if (threadIdx.x < ROW_THREADS) wait_at<1>();
    else wait_at<2>();
}

// P = softmax(S) and LSE. ROW_THREADS threads hold a row in registers, or pass over it in parts when it is longer than
// that: once for m and l, once more for P. They hold scores, not exponentials, as these take twice the registers in
// float32 and rows in flight count: each exponential is computed for l, and again for P.
extern "C" __global__ void __launch_bounds__(SOFTMAX_THREADS, SOFTMAX_BLOCKS)
    standard_softmax(const score* scores, element* probabilities, float* lse, int seqlen_q, int seqlen_k,
                     int window_left, int window_right, long long rows, long long stride, const int* lists,
                     const int* counts) {
    let_next_launch_begin();
    constexpr float factor = LOG2E;
    __shared__ float partial[2][SOFTMAX_THREADS / 32];
    const int thread = threadIdx.x % ROW_THREADS, warp = threadIdx.x / 32;
    const long long row = (long long)blockIdx.x * (SOFTMAX_THREADS / ROW_THREADS) + threadIdx.x / ROW_THREADS;
    if (row >= rows) return;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int q = int(row % seqlen_q), first = q / TILE_Q * TILE_Q, last = min(seqlen_q, first + TILE_Q) - 1;
    const int begin = mask.begin(q), end = max(0, mask.end(q));
    // What standard_output reads of P for the rows of this tile together, in whole vectors.
    const Walk walk = Walk::of<BLOCK_K>(mask, first, last, lists, counts);
    const int count = round_up(walk.count, 8), parts = ROW_IN_ONE ? min(count, 1) : (count + PART - 1) / PART;
    scores += row * stride;
    probabilities += row * stride;

    Scores s[ROW_VECTORS];
    float m = NO_MAXIMUM, l = 0.0f;
    wait_for_launch_before();
    for (int part = 0; part < parts; ++part) {
        const int own = walk.first + part * PART + thread * 8;  // in one stretch, without a block mask
        const bool whole = !SPARSE && own >= begin && own + (ROW_VECTORS - 1) * ROW_THREADS * 8 + 8 <= end;
        if (whole) {
#pragma unroll
            for (int i = 0; i < ROW_VECTORS; ++i) s[i].load(scores + own + i * ROW_THREADS * 8);
        }
        if (!whole) {
#pragma unroll
            for (int i = 0; i < ROW_VECTORS; ++i) {
                const int at = part * PART + (i * ROW_THREADS + thread) * 8;
                s[i].load(scores, at < count ? walk.key(at) : end, begin, end);
            }
        }
        float top = MINUS_INFINITY;
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
#pragma unroll
            for (int c = 0; c < 8; ++c) top = fmaxf(top, s[i][c]);
            s[i].forget();
        }
        top = warp_max(top);
        if (ROW_WARPS > 1) {
            if (threadIdx.x % 32 == 0) partial[0][warp] = top;
            row_barrier();
#pragma unroll
            for (int w = 0; w < ROW_WARPS; ++w) top = fmaxf(top, partial[0][warp / ROW_WARPS * ROW_WARPS + w]);
        }
        const float before = m;
        m = fmaxf(m, top * factor);
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
#pragma unroll
            for (int c = 0; c < 8; ++c) sum += exp2_approx(fmaf(s[i][c], factor, -m));
            s[i].forget();
        }
        sum = warp_sum(sum);
        if (ROW_WARPS > 1) {
            if (threadIdx.x % 32 == 0) partial[1][warp] = sum;
            row_barrier();
            sum = 0.0f;
#pragma unroll
            for (int w = 0; w < ROW_WARPS; ++w) sum += partial[1][warp / ROW_WARPS * ROW_WARPS + w];
        }
        l = l * exp2_approx(before - m) + sum;
    }
    if (thread == 0) lse[row] = log_sum_exp(m, l);
    const float inverse = l > 0.0f ? reciprocal_approx(l) : 0.0f;
    for (int part = 0; part < parts; ++part) {
#pragma unroll
        for (int i = 0; i < ROW_VECTORS; ++i) {
            const int at = part * PART + (i * ROW_THREADS + thread) * 8;
            if (at >= count) continue;
            const int column = walk.key(at);
            if (parts > 1) s[i].load(scores, column, begin, end);
            unsigned p[4];
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                p[c] = pack(exp2_approx(fmaf(s[i][2 * c], factor, -m)) * inverse,
                            exp2_approx(fmaf(s[i][2 * c + 1], factor, -m)) * inverse);
            }
            if (column < stride) {
                *reinterpret_cast<uint4*>(probabilities + column) = make_uint4(p[0], p[1], p[2], p[3]);
            }
        }
    }
}

// O = PV, one block TILE_Q rows of it, three stages of BLOCK_K keys in flight.
extern "C" __global__ void __launch_bounds__(THREADS, OUTPUT_BLOCKS)
    standard_output(const element* probabilities, const element* v, element* o, int group, int seqlen_q, int seqlen_k,
                    int window_left, int window_right, long long stride, const int* lists, const int* counts) {
    constexpr int STAGE = TileP::BYTES + TileV::BYTES;
    extern __shared__ __align__(1024) unsigned char shared[];
    const unsigned base = shared_address(shared);
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q;
    const int head = blockIdx.x / tiles_q;
    const int tile_q = CAUSAL ? tiles_q - 1 - blockIdx.x % tiles_q : blockIdx.x % tiles_q;
    const int q0 = tile_q * TILE_Q, rows = min(TILE_Q, seqlen_q - q0);
    const long long first_row = (long long)head * seqlen_q + q0;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const Walk walk = Walk::of<BLOCK_K>(mask, q0, q0 + rows - 1, lists, counts);
    const int end = mask.end(q0 + rows - 1);
    probabilities = TileP::thread_source(probabilities + first_row * stride, stride);
    v = TileV::thread_source(v + (long long)(head / group) * seqlen_k * HEAD_DIM, HEAD_DIM);

    [[maybe_unused]] const int lane = threadIdx.x % 32;
    const int warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const unsigned target_p = TileP::thread_target(base), target_v = TileV::thread_target(base + TileP::BYTES);
    const int steps = (walk.count + BLOCK_K - 1) / BLOCK_K;
    auto copy = [&](int step) {
        if (step < steps) {
            const unsigned stage = step % 3 * STAGE;
            const long long k0 = walk.key(step * BLOCK_K);
            TileP::copy(target_p + stage, probabilities + k0, stride, rows, end - int(k0));
            TileV::copy(target_v + stage, v + k0 * HEAD_DIM, HEAD_DIM, seqlen_k - int(k0), HEAD_DIM);
        }
        commit_copies();
    };
    wait_for_launch_before();
    copy(0);
    copy(1);
    float acc[SUBTILES][WIDTH / 8][4] = {};
#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        wait_copies<1>();
        publish_copies();
        __syncthreads();  // this step is complete, the previous one done with
        const unsigned stage = base + step % 3 * STAGE;
#if WARPGROUPS
        start_columns<TileP, TileV>(acc, TileP::group(stage), stage + TileP::BYTES);
        copy(step + 2);
        finish_columns(acc);
#else
        copy(step + 2);
        const Rows<TileP, SUBTILES, false> left{stage + TileP::lane_rows_first(lane) + warp_row * TileP::ROW_BYTES};
        const unsigned lane_v = stage + TileP::BYTES + TileV::lane_rows_first(lane);
#pragma unroll
        for (int n = 0; n < BLOCK_K / 16; ++n) {
            unsigned p[SUBTILES][4];
            left.get(n, p);
            multiply_step<TileV>(acc, p, lane_v, n);
        }
#endif
    }
    wait_copies<0>();
    __syncthreads();
    store_rows<TileO>(shared, acc, warp_row, o + first_row * HEAD_DIM, HEAD_DIM, rows, HEAD_DIM);
}
