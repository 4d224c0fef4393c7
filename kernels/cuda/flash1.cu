// flash1: O = softmax(QK^T) V with K/V outer and Q inner (FlashAttention, arXiv 2205.14135, Algorithm 1), with the same
// products as flash2: the order of the loops is the difference.
//
// Idea: one block owns one head. It holds a tile of K and V and passes all query tiles by it; each pass reads that
// tile's O, l and m from HBM, adds what these keys contribute, normalises, and writes them back. Pairs of tiles of which
// the masks keep nothing are neither loaded nor computed.
// Changed from standard: S and P exist only as one tile on the chip, so memory grows with N, not N^2.
// Limit: latency and L2. O (float), l and m cross them once per key tile: Nk / BLOCK_K times 8 Nq d bytes and more.
// Known to be wrong with it: the loop order. Only batch * heads blocks run, and O is read and written again and again;
// flash2 swaps the loops.
//
// Tried on an H200 (N = 8192, d = 128, 16 heads): 4 warps of 32 rows and 64 keys a tile 20 TFLOP/s; 8 warps of 16 rows
// 41; 16 warps of 16 rows and 128 keys 46, kept: with one block a head only more warps hide the latency.
// Reading m and l before the product (6 % to 9 % slower at d = 64, 16k), alpha after the exponentials or by a comparison,
// m in units of the scores: 14 ways over 18 problems, none faster in the mean.
#include "flash1_clocks.cuh"
#include "flash1_state.cuh"
#include "live.cuh"
#include "product.cuh"
#include "softmax.cuh"

constexpr int THREADS = WARPS * 32;
constexpr int TILE_Q = WARPS * SUBTILES * 16;
#if TRACE
#include "trace_fragments.cuh"
#endif
constexpr int WIDTH = round_up(HEAD_DIM, 16);
using TileQ = Tile<TILE_Q, WIDTH, THREADS>;
using TileK = Tile<BLOCK_K, WIDTH, THREADS>;

// The running O is float whatever the inputs are: rounding it to 16 bits after every tile would add up.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash1(const element* q, const element* k, const element* v, float* o, float* m, float* l, int group, int seqlen_q,
           int seqlen_k, int window_left, int window_right, float scale, const int* kept
#if TRACE
           , const __grid_constant__ Recording recording
#endif
           LIVE_GIVEN CLOCKS_GIVEN) {
    LIVE_BEGIN()
    extern __shared__ __align__(1024) unsigned char shared[];
    CLOCKS_BEGIN(ForwardClocks, shared + 2 * TileQ::BYTES + 2 * TileK::BYTES)
    const unsigned shared_q = shared_address(shared);  // two stages
    const unsigned shared_k = shared_q + 2 * TileQ::BYTES;
    const unsigned shared_v = shared_k + TileK::BYTES;

    const long long head = blockIdx.x, first_key = head / group * seqlen_k;
    q = TileQ::thread_source(q + head * seqlen_q * HEAD_DIM, HEAD_DIM);
    k = TileK::thread_source(k + first_key * HEAD_DIM, HEAD_DIM);
    v = TileK::thread_source(v + first_key * HEAD_DIM, HEAD_DIM);
    o += head * seqlen_q * HEAD_DIM;
    m += head * seqlen_q;
    l += head * seqlen_q;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int lane = threadIdx.x % 32, warp_row = threadIdx.x / 32 * SUBTILES * 16;
    const unsigned lane_k = shared_k + TileK::lane_columns_first(lane),
                   lane_v = shared_v + TileK::lane_rows_first(lane);
    const unsigned lane_q = shared_q + TileQ::lane_rows_first(lane) + warp_row * TileQ::ROW_BYTES;
    const unsigned target_q = TileQ::thread_target(shared_q);
    const float factor = softmax_factor(scale);
    const int tiles_q = (seqlen_q + TILE_Q - 1) / TILE_Q;
    auto sees = [&](int tile, int k0) {
        const int q0 = tile * TILE_Q;
        return tiles_meet(mask, kept, q0, min(q0 + TILE_Q, seqlen_q) - 1, k0, TILE_Q, BLOCK_K);
    };
    for (int tile = 0; tile < tiles_q; ++tile) {  // the first keys set the state of all other rows
        const int q0 = tile * TILE_Q;
        if (!sees(tile, 0)) empty_rows(o + (long long)q0 * HEAD_DIM, m + q0, l + q0, min(TILE_Q, seqlen_q - q0));
    }

#pragma unroll 1
    for (int k0 = 0; k0 < seqlen_k; k0 += BLOCK_K) {
        auto next = [&](int tile) {  // the next query tile that sees some of these keys
            while (tile < tiles_q && !sees(tile, k0)) ++tile;
            return tile;
        };
        auto copy_q = [&](int tile, unsigned stage) {
            if (tile < tiles_q) {
                const int q0 = tile * TILE_Q;
                TileQ::copy(target_q + stage, q + (long long)q0 * HEAD_DIM, HEAD_DIM, seqlen_q - q0, HEAD_DIM);
            }
            commit_copies();
        };
        int tile = next(0);
        if (tile == tiles_q) continue;
        __syncthreads();  // the previous K and V are done with
        TileK::copy(TileK::thread_target(shared_k), k + (long long)k0 * HEAD_DIM, HEAD_DIM, seqlen_k - k0, HEAD_DIM);
        TileK::copy(TileK::thread_target(shared_v), v + (long long)k0 * HEAD_DIM, HEAD_DIM, seqlen_k - k0, HEAD_DIM);
        copy_q(tile, 0);
        unsigned stage = 0;
#pragma unroll 1
        while (tile < tiles_q) {
            const int q0 = tile * TILE_Q, following = next(tile + 1);
            CLOCK(0)
            wait_copies<0>();
            if (scale < 0.0f) TileQ::negate(shared + stage);
            __syncthreads();  // this Q is complete, the previous one done with
            copy_q(following, TileQ::BYTES - stage);
            CLOCK(1)

            float s[SUBTILES][BLOCK_K / 8][4];
            const Rows<TileQ, SUBTILES, false> left{lane_q + stage};
            multiply_rows<TileK>(s, left, lane_k);
            CLOCK(2)
            if (k0 + BLOCK_K > mask.end(q0) || k0 < mask.begin(q0 + TILE_Q - 1)) apply_mask(s, mask, q0 + warp_row, k0);
#if TRACE
            Recorder recorder(recording, head, warp_row, seqlen_q - q0);
            recorder.scores(tile * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + k0 / BLOCK_K, s, factor);
#endif

            float keep[SUBTILES][2], gain[SUBTILES][2];  // factors on the old O and on this tile's PV
#pragma unroll
            for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
                for (int r = 0; r < 2; ++r) {
                    const int row = q0 + warp_row + i * 16 + lane / 4 + 8 * r;
                    const bool fresh = k0 == 0 || row >= seqlen_q;
                    const float before = fresh ? MINUS_INFINITY : m[row], row_l = fresh ? 0.0f : l[row];
                    const float row_m = fmaxf(before, row_max(s[i], r) * factor);
                    const float origin = fmaxf(row_m, NO_MAXIMUM);
                    const float old = row_l * exp2_approx(before - origin);
                    const float sum = old + quad_sum(exponentiate(s[i], r, factor, origin));
                    gain[i][r] = sum > 0.0f ? reciprocal_approx(sum) : 0.0f;
                    keep[i][r] = old * gain[i][r];
                    __syncwarp();  // all four lanes of the row have read its state
                    if (row < seqlen_q && lane % 4 == 0) m[row] = row_m, l[row] = sum;
#if TRACE
                    recorder.row(i, r, row_m, sum, exp2_approx(before - origin));
#endif
                }
            }
            float acc[SUBTILES][WIDTH / 8][4] = {};
            CLOCK(3)
            multiply_columns<TileK>(acc, s, lane_v);
            CLOCK(4)
#pragma unroll
            for (int i = 0; i < SUBTILES; ++i) {
#pragma unroll
                for (int r = 0; r < 2; ++r) {
                    const int row = q0 + warp_row + i * 16 + lane / 4 + 8 * r;
                    if (row >= seqlen_q) continue;
                    float* const place = o + (long long)row * HEAD_DIM + lane % 4 * 2;
                    float2 old[WIDTH / 8];
#pragma unroll
                    for (int n = 0; n < HEAD_DIM / 8; ++n) {
                        old[n] = k0 > 0 ? *reinterpret_cast<const float2*>(place + n * 8) : make_float2(0.0f, 0.0f);
                    }
#pragma unroll
                    for (int n = 0; n < HEAD_DIM / 8; ++n) {
                        *reinterpret_cast<float2*>(place + n * 8) =
                            make_float2(fmaf(acc[i][n][2 * r], gain[i][r], old[n].x * keep[i][r]),
                                        fmaf(acc[i][n][2 * r + 1], gain[i][r], old[n].y * keep[i][r]));
                    }
#if TRACE
                    recorder.output_row(i, r, place);
#endif
                }
            }
#if TRACE
            recorder.stamp();
#endif
            __syncwarp();
            CLOCKS_WRITE()
            LIVE_TILE((head * tiles_q + tile) * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + k0 / BLOCK_K)
            tile = following;
            stage = TileQ::BYTES - stage;
        }
    }
    CLOCKS_STORE()
    CLOCKS_END()
}

// Last pass, one thread for eight elements of O: to the element type, and LSE from m and l.
extern "C" __global__ void flash1_finish(const float* running, const float* m, const float* l, element* o, float* lse,
                                         long long rows) {
    constexpr int CHUNKS = HEAD_DIM / 8;
    const long long index = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = index / CHUNKS;
    if (row >= rows) return;
    if (index % CHUNKS == 0) lse[row] = log_sum_exp(m[row], l[row]);
    const float4 a = reinterpret_cast<const float4*>(running)[2 * index],
                 b = reinterpret_cast<const float4*>(running)[2 * index + 1];
    reinterpret_cast<uint4*>(o)[index] = make_uint4(pack(a.x, a.y), pack(a.z, a.w), pack(b.x, b.y), pack(b.z, b.w));
}
