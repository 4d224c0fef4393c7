// flash2, backward: dQ, dK and dV from Q, K, V, O, LSE and dO (FlashAttention-2, arXiv 2307.08691, Algorithm 2), on the
// tensor cores with mma.sync.
//
// Idea: a block owns OUTER keys of one K/V head and passes all queries that see them, of all query heads of the group:
// dK and dV stay in registers, and no other block adds to them (backward_keys.cuh).
// Changed from flash1: a tile of keys is a block of its own, so that batch * kv_heads * Nk / OUTER blocks fill the GPU;
// delta = rowsum(dO O) is taken once, in a launch before. Changed from its forward pass: five products a tile instead of
// two; LSE stands for the online softmax.
// Limit: the issue of instructions, and dQ, which every block of keys adds to in HBM, in float.
// Known to be wrong with it: the order of those additions is not the same in every run. DETERMINISTIC leaves dQ to a
// launch of its own, with the queries outside: seven products instead of five, and the same bits in every run.
// An H200 runs it at 164, 194 and 199 TFLOP/s at d = 128, N = 1k, 4k and 8k (16 heads, bfloat16, no mask), at 146, 153
// and 146 at d = 256, N = 1k, 4k and 16k (16k tokens); DETERMINISTIC, of 16k tokens at 1k, 4k and 16k, at 186, 205 and
// 208 at d = 64, 182, 193 and 194 at 128, 149, 158 and 159 at 256. At d = 64 two fragments a warp (4 warps, 32 queries a
// tile) would read shared memory less, but spill up to 60 bytes of registers on some architectures.
#include "backward_keys.cuh"

struct KeptDelta {
    const float *lse, *delta;

    __device__ __forceinline__ void put(RowState* states, long long row, int rows) const {
        for (int i = threadIdx.x; i < INNER; i += THREADS) states[i] = RowState::of(lse, delta, row + i, i < rows);
    }
};

// dK and dV; unless DETERMINISTIC also the sums of dQ, which still lack the scale.
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash2_backward_keys(const element* q, const element* k, const element* v, const element* grad_output,
                         const float* lse, const float* delta, float* dq_sums, element* dk, element* dv, int group,
                         int seqlen_q, int seqlen_k, int window_left, int window_right, float scale, const int* kept) {
    extern __shared__ __align__(1024) unsigned char shared[];
    const int tiles_k = (seqlen_k + OUTER - 1) / OUTER, block = blockIdx.x / PARTS;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    constexpr Sums SUMS = DETERMINISTIC ? Sums::ELSEWHERE : Sums::OF_ALL;
    key_tile<SUMS>(shared, Given{q, k, v, grad_output}, KeptDelta{lse, delta}, dq_sums, dk, dv, block / tiles_k,
                   block % tiles_k * OUTER, group, seqlen_q, mask, scale, kept);
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
