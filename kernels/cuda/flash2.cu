// flash2: O = softmax(QK^T) V with Q outer and K/V inner (FlashAttention-2, arXiv 2307.08691, Algorithm 1), on the
// tensor cores with mma.sync.
//
// Idea: a block owns TILE_Q query rows and walks over the keys; O, l and m stay in registers and one division ends a
// row. A warp owns SUBTILES x 16 of the rows alone, so that its softmax needs no other warp, and S comes out of one
// product in exactly the registers that P must go into the next one. K and V of tile j + 1 are copied while tile j is
// computed.
// Changed from flash1: the loops are swapped. O, l and m never touch HBM while they grow, and every query tile is a
// block of its own, so that batch * heads * Nq / TILE_Q blocks fill the GPU instead of batch * heads.
// Limit: the issue of instructions. On an H200 at d = 128 the products alone run at 442 TFLOP/s, the kernel at 414:
// mma.sync feeds Hopper's tensor cores at less than half their 990, and the softmax fills what it leaves.
// Known to be wrong with it: softmax and products of one warp take turns, and operands pass through registers.
// flash3's warp groups take them from shared memory, asynchronously.
//
// Tried and lost, or won, on an H200 (geometric mean over N = 1k to 16k, d = 64 and 128):
//   one stage of K and V instead of two          -3 %
//   exp2 fused into the product with V            0
//   rescale O only when a row's maximum rose     +2 % at d = 128, -2 % at 64; kept with the next one
//   let the maximum lag by 2^8                   +5 % at d = 128, +1 % at 64; kept
//   longest causal tiles of all heads first      +10 % at d = 128, +5 % at 64; kept, without a mask -2 %
//   next copies after QK^T, not at the barrier   +2 to 3 %; kept
//   one sub-tile a warp instead of two           -20 % at d = 128, -7 % at 64: shared memory sets the pace
//   three blocks an SM at d = 64, Q read again   -3 %
//   two warps a block, four blocks an SM         -3 % at d = 64, -9 % at 128
//   a polynomial for 1/4 of the exp2             -7 % at d = 64: issue slots are short, not special functions
//   QK^T of tile j + 1 amid the softmax of j     -0.5 to -1.5 %
//   keys a tile at d = 64: 96 instead of 64      +2.5 % at N >= 4k without a mask (used there), causal -2 %; 128: -5 %
//   ... on an H100, without a mask               1k +1 to 4, 1.5k +4 to 8, 2k 0 to +1, 3k +4 to 6 % (used from 1k on), 512
//                                                -1 to -5 %; causal 1k -1 to 0, 2k +0.5 to 2, 4k -7 to +3, 8k, 16k 0 to +2 %
//   keys a tile at d = 128: 32 instead of 64     causal +1 to 4 % where tiles fill two rounds of blocks (512 of 528: used
//   (an H100)                                    there), -2 to -3 % of 448 and 576 tiles, else -4 to -11 %; full -5 to -18 %
//   ... 48                                       causal -1 to -4 %; full 1k -5, 2k -1 to +2, 4k -1 to +1, 8k, 16k 0 to +1 %
//   ... 80                                       causal -5 to +1 %; full -1 to -6 %
//   the rows' place computed again, not kept     0 to +0.7 % at d = 64 and 128 without a mask, and no spill: used there
//   ... from its head and q0, which are kept     +1.2 and +0.5 %, but 8 bytes spilled at d = 64, N >= 4k
//   K's pointer fixed, not moved along           -1 % with a window over a block mask, but no spill: used there
#include "product.cuh"
#include "scoring.cuh"
#include "sequences.cuh"
#include "softmax.cuh"
#if PAGE_SIZE
#include "flash2_pages.cuh"
#else
#include "flash2_arrays.cuh"
#endif

constexpr int THREADS = WARPS * 32;
constexpr int TILE_Q = WARPS * SUBTILES * 16;
#ifndef HEAD_DIM_V
#define HEAD_DIM_V HEAD_DIM  // of V and O
#endif
constexpr int WIDTH = round_up(HEAD_DIM, 16), V_WIDTH = round_up(HEAD_DIM_V, 16);
constexpr bool OWN_V = HEAD_DIM_V != HEAD_DIM;
using TileQ = Tile<TILE_Q, WIDTH, THREADS>;
using TileK = Tile<BLOCK_K, WIDTH, THREADS>;
using TileV = Tile<BLOCK_K, V_WIDTH, THREADS>;
using TileO = Tile<TILE_Q, V_WIDTH, THREADS>;
static_assert(!OWN_V || PAGE_SIZE == 0, "pages of K and of V are looked up at once");
#if TRACE
#include "trace_fragments.cuh"
#endif
#include "flash2_clocks.cuh"
#include "live.cuh"

// A row keeps its old reference point until the maximum has risen by this many powers of two: P and l then stay below
// 2^8 times their usual range, the result is the same, and almost no tile has to rescale O.
constexpr float LAZINESS = 8.0f;

// With a block mask registers are so short at d = 128 that what all lanes share must not take any: the compiler is told
// of it, the list of blocks is read once a step, and what can be had again is not kept.
__device__ __forceinline__ int uniform(int x) { return SPARSE ? __shfl_sync(0xffffffffu, x, 0) : x; }

// Registers are short here too: a block computes again after the loop where its rows lie, from a number that the
// compiler takes for another than blockIdx.x.
constexpr bool AGAIN = RAGGED || PAGE_SIZE || !SPARSE && !CAUSAL && !WINDOW && (WIDTH == 64 || WIDTH == 128);
__device__ __forceinline__ int block_again() {
    int block = blockIdx.x;
    asm volatile("" : "+r"(block));
    return block;
}

extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    flash2(const element* q, const element* k, const element* v, element* o, float* lse, int heads, int group,
           int seqlen_q, int seqlen_k, int window_left, int window_right, float scale, const int* lists,
           const int* counts, int sequence_heads, const __grid_constant__ Sequences sequences, int kv_heads SCORING_GIVEN
#if TRACE
           , const __grid_constant__ Recording recording
#endif
           CLOCKS_GIVEN
           LIVE_GIVEN
    ) {
    LIVE_BEGIN()
    extern __shared__ __align__(1024) unsigned char shared[];
    CLOCKS_BEGIN()
    const unsigned shared_q = shared_address(shared);
    const unsigned shared_k = shared_q + TileQ::BYTES;  // two stages
    const unsigned shared_v = shared_k + 2 * TileK::BYTES;

    // Causal rows get longer downwards: the longest tiles of all heads start first, the short ones fill the end.
    const int tiles_q = gridDim.x / heads;
    const int head = uniform(CAUSAL ? blockIdx.x % heads : blockIdx.x / tiles_q);
    const int tile_q = uniform(CAUSAL ? tiles_q - 1 - blockIdx.x / heads : blockIdx.x % tiles_q);
    const int q0 = tile_q * TILE_Q;
    const int sequence = RAGGED || PAGE_SIZE ? head / sequence_heads : 0;
    const int *const query_lengths = sequences.query_lengths, *const key_lengths = sequences.key_lengths;
    const int queries = RAGGED ? query_lengths[sequence] : seqlen_q, keys = RAGGED ? key_lengths[sequence] : seqlen_k;
    const int rows = min(TILE_Q, queries - q0);
    const long long first_row = (long long)head * seqlen_q + q0;
    const Pages<TileK, BLOCK_K> pages(k, v, sequences.page_table, kv_heads, head / group, sequence, seqlen_k, keys);
    const long long first_key = (long long)(head / group) * seqlen_k, v_from_k = v - k;  // of arrays
    if constexpr (OWN_V) v = TileV::thread_source(v + first_key * HEAD_DIM_V, HEAD_DIM_V);
    if constexpr (PAGE_SIZE == 0) k = TileK::thread_source(k + first_key * HEAD_DIM, HEAD_DIM);

    const Mask mask = Mask::of(queries, keys, window_left, window_right);
    const int full_begin = mask.begin(q0 + rows - 1), full_end = mask.end(q0);  // tiles between them need no mask
#if SPARSE  // as conditions of the language both take other registers
    // The kept blocks of this row of blocks, in rising order.
    constexpr int BLOCK_KEYS = TILES_PER_BLOCK_K * BLOCK_K;
    const int first = tile_q / TILES_PER_BLOCK_Q * ((seqlen_k + BLOCK_KEYS - 1) / BLOCK_KEYS);
    const int steps = counts[tile_q / TILES_PER_BLOCK_Q];
    auto key_tile = [&](int step) {
        return lists[first + step / TILES_PER_BLOCK_K] * TILES_PER_BLOCK_K + step % TILES_PER_BLOCK_K;
    };
#else
    const int last = (max(0, mask.end(q0 + rows - 1)) + BLOCK_K - 1) / BLOCK_K - 1;
    const int steps = RAGGED && rows <= 0 ? 0 : max(0, last + 1 - mask.begin(q0) / BLOCK_K);
    auto key_tile = [&](int step) { return last - step; };
#endif

    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    Rows<TileQ, SUBTILES, Q_IN_REGISTERS> left{shared_q + TileQ::lane_rows_first(lane) + warp_row * TileQ::ROW_BYTES};
    const unsigned lane_k = shared_k + TileK::lane_columns_first(lane);
    const unsigned lane_v = shared_v + TileV::lane_rows_first(lane);
    const unsigned target_k = TileK::thread_target(shared_k), target_v = TileV::thread_target(shared_v);
    const auto v_stage = [](unsigned stage) { return OWN_V ? (stage ? TileV::BYTES : 0u) : stage; };  // K's to V's

#if TRACE
    Recorder recorder(recording, head, warp_row, rows);
    const int tiles_k = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
#endif
    TileQ::copy(TileQ::thread_target(shared_q), TileQ::thread_source(q + first_row * HEAD_DIM, HEAD_DIM), HEAD_DIM,
                rows, HEAD_DIM);
    constexpr bool STAYS = SPARSE && WINDOW && !CAUSAL;  // k; else it moves along with the tiles
    int k0 = 0;
    if (steps > 0) {
        k0 = key_tile(0) * BLOCK_K;
        if constexpr (PAGE_SIZE > 0) {
            pages.copy(target_k, target_v, k0);
        } else {
            const long long start = (long long)k0 * HEAD_DIM;
            if (!STAYS) k += start;
            const element* const source = STAYS ? k + start : k;
            TileK::copy(target_k, source, HEAD_DIM, keys - k0, HEAD_DIM);
            TileV::copy(target_v, OWN_V ? v + (long long)k0 * HEAD_DIM_V : source + v_from_k, HEAD_DIM_V, keys - k0,
                        HEAD_DIM_V);
        }
    }
    commit_copies();
    wait_copies<0>();
    if (scale < 0.0f) TileQ::negate(shared);
    __syncthreads();
    left.keep();

    float acc[SUBTILES][V_WIDTH / 8][4] = {};
    float m[SUBTILES][2], l[SUBTILES][2];  // l: this lane's columns only
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) m[i][0] = m[i][1] = NO_MAXIMUM, l[i][0] = l[i][1] = 0.0f;
#if SINKS
#pragma unroll
    for (int i = 0; i < SUBTILES * 2; ++i) begin_row(m[i / 2][i % 2], l[i / 2][i % 2], scoring, head % sequence_heads);
#endif
#if SOFTCAP || ALIBI
    const ScoreTerms terms = ScoreTerms::of(scoring, softmax_factor(scale), fabsf(scale), head);
    const float factor = terms.rest();
#else
    const float factor = softmax_factor(scale);
#endif
    unsigned stage = 0;

#pragma unroll 1
    for (int step = 0; step < steps; ++step) {
        if (SPARSE) stage = step % 2 * TileK::BYTES;
        else k0 = key_tile(step) * BLOCK_K;
        CLOCKS_WRITE()
        CLOCK(0)
        wait_copies<0>();
        __syncthreads();  // this K and V are complete, the previous ones done with
        CLOCK(1)

        float s[SUBTILES][BLOCK_K / 8][4];
        multiply_rows<TileK>(s, left, lane_k + stage);
        int next = 0;
        if (step + 1 < steps) {
            next = key_tile(step + 1) * BLOCK_K;
            const unsigned other = TileK::BYTES - stage;
            if constexpr (PAGE_SIZE > 0) {
                pages.copy(target_k + other, target_v + other, next);
            } else {
                if (!STAYS) k += (long long)(next - k0) * HEAD_DIM;
                const element* const source = STAYS ? k + (long long)next * HEAD_DIM : k;
                TileK::copy(target_k + other, source, HEAD_DIM, keys - next, HEAD_DIM);
                TileV::copy(target_v + v_stage(other), OWN_V ? v + (long long)next * HEAD_DIM_V : source + v_from_k,
                            HEAD_DIM_V, keys - next, HEAD_DIM_V);
            }
            commit_copies();
        }
#if SOFTCAP || ALIBI
        terms.apply(s, q0 + warp_row, k0, keys - queries);
#endif
        if (k0 + BLOCK_K > full_end || k0 < full_begin) apply_mask(s, mask, q0 + warp_row, k0);
#if TRACE
        recorder.scores(tile_q * tiles_k + k0 / BLOCK_K, s, factor);
#endif
        CLOCK(2)

        float alpha[SUBTILES][2];
        bool risen = false;
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const float top = row_max(s[i], r) * factor, before = m[i][r];
                const bool rise = top - before > LAZINESS;
                if (rise) m[i][r] = top;
                risen |= rise;
                alpha[i][r] = exp2_approx(before - m[i][r]);
            }
        }
        if (__any_sync(0xffffffffu, risen)) {
#pragma unroll
            for (int i = 0; i < SUBTILES; ++i) {
                l[i][0] *= alpha[i][0], l[i][1] *= alpha[i][1];
#pragma unroll
                for (int n = 0; n < V_WIDTH / 8; ++n) {
#pragma unroll
                    for (int c = 0; c < 4; ++c) acc[i][n][c] *= alpha[i][c / 2];
                }
            }
        }
        CLOCK_OF_PV(3)
#pragma unroll
        for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
            for (int r = 0; r < 2; ++r) l[i][r] += exponentiate(s[i], r, factor, m[i][r] BEHIND_BEGUN(i, r));
        }
        multiply_columns<TileV>(acc, s, lane_v + v_stage(stage));
#if TRACE
        recorder.state(m, l, alpha);
        recorder.output(acc);
#endif
        LIVE_TILE((head * tiles_q + tile_q) * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + k0 / BLOCK_K)
        stage = TileK::BYTES - stage;
        k0 = next;
    }

    CLOCKS_STORE()
    const int block = AGAIN ? block_again() : 0;
    const int out_q0 = AGAIN ? (CAUSAL ? tiles_q - 1 - block / heads : block % tiles_q) * TILE_Q : q0;
    const int out_rows = AGAIN || RAGGED ? min(TILE_Q, seqlen_q - out_q0) : rows;
    const int out_head = AGAIN ? (CAUSAL ? block % heads : block / tiles_q) : uniform(head);
    // The rows behind them are padding.
    const int filled = RAGGED ? query_lengths[out_head / sequence_heads] - out_q0 : out_rows;
    const long long row0 = SPARSE || AGAIN ? (long long)out_head * seqlen_q + out_q0 : first_row;
#pragma unroll
    for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = warp_row + i * 16 + lane / 4 + 8 * r;
            const float total = quad_sum(l[i][r]);
            const bool padding = RAGGED && row >= filled;
            const float sum = padding ? 0.0f : total;
            if (row < out_rows && lane % 4 == 0) lse[row0 + row] = log_sum_exp(m[i][r], sum);
            const float inverse = sum > 0.0f ? reciprocal_approx(sum) : 0.0f;
#pragma unroll
            for (int n = 0; n < V_WIDTH / 8; ++n) {
#pragma unroll
                for (int c = 2 * r; c < 2 * r + 2; ++c) acc[i][n][c] = padding ? 0.0f : acc[i][n][c] * inverse;
            }
        }
    }
    // Q's place is free: this warp alone has read these rows, where they are as wide.
    if (OWN_V) __syncthreads();
    store_rows<TileO>(shared, acc, warp_row, o + row0 * HEAD_DIM_V, HEAD_DIM_V, out_rows, HEAD_DIM_V);
    CLOCKS_END()
}
