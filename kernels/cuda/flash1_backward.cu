// flash1, backward: dQ, dK and dV from Q, K, V, O, LSE and dO in the order of its forward pass (FlashAttention, arXiv
// 2205.14135, Algorithm 4, with LSE in place of m and l), on the tensor cores with mma.sync. One launch.
//
// Idea: a block owns a K/V head. Outside it walks over the tiles of keys, inside over all queries that see them, so that P
// is computed again and nothing of size Nq x Nk is kept between the passes.
// Changed from its forward pass: dQ in float goes through HBM for every tile of keys, where the forward pass sends O; and
// delta = rowsum(dO O) is taken anew in each, from O and dO in HBM, though it is the same every time.
// Limit: batch * kv_heads blocks, one tile of keys after the other. No other block adds to dQ: the order of its sums, and
// with it every bit, is the same in each run.
// Known to be wrong with it: flash2 takes delta once, and gives every tile of keys a block of its own.
// Not measured yet.
#include "backward_keys.cuh"

// LSE, and delta taken now, a warp a row.
struct DeltaAnew {
    const float* lse;
    const element *output, *grad_output;

    __device__ __forceinline__ void put(RowState* states, long long row, int rows) const {
        const int lane = threadIdx.x % 32;
        for (int i = threadIdx.x / 32; i < INNER; i += WARPS) {
            const bool exists = i < rows;
            const long long start = (row + i) * HEAD_DIM;
            const float delta = exists ? row_delta(output + start, grad_output + start) : 0.0f;
            if (lane == 0) states[i] = RowState::of(exists ? lse[row + i] : MINUS_INFINITY, delta);
        }
    }
};

// The block's columns of dQ of a K/V head's query heads: their sums become 0, or (DONE) dQ, times the scale.
template <bool DONE>
__device__ __forceinline__ void pass_sums(float* sums, element* dq, long long rows, int part, float scale) {
    const int first = part * PART_WIDTH, width = min(HEAD_DIM - first, PART_WIDTH);
    for (long long i = threadIdx.x; i < rows * (width / 4); i += THREADS) {
        const long long at = i / (width / 4) * HEAD_DIM + first + i % (width / 4) * 4;
        float4* const four = reinterpret_cast<float4*>(sums + at);
        if (DONE) {
            *reinterpret_cast<uint2*>(dq + at) =
                make_uint2(pack(four->x * scale, four->y * scale), pack(four->z * scale, four->w * scale));
        } else {
            *four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash1_backward(const element* q, const element* k, const element* v, const element* output, const element* grad_output,
                    const float* lse, float* dq_sums, element* dq, element* dk, element* dv, int group, int seqlen_q,
                    int seqlen_k, int window_left, int window_right, float scale, const int* kept CLOCKS_GIVEN TRACE_GIVEN) {
    TRACED(Recorder recorder(recording);)
    extern __shared__ __align__(1024) unsigned char shared[];
    CLOCKS_BEGIN(BackwardClocks, shared + SHARED_BYTES)
    const long long kv_head = blockIdx.x / PARTS, rows = (long long)group * seqlen_q;
    const int part = blockIdx.x % PARTS;
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    float* const own_sums = dq_sums + kv_head * rows * HEAD_DIM;

    pass_sums<false>(own_sums, nullptr, rows, part, scale);
    for (int k0 = 0; k0 < seqlen_k; k0 += OUTER) {
        __syncthreads();  // the sums are what they are to be, and shared memory is free
        key_tile(shared, Given{q, k, v, grad_output}, DeltaAnew{lse, output, grad_output}, dq_sums, dk, dv, kv_head, k0,
                 group, seqlen_q, mask, scale, kept CLOCKS_PASSED TRACE_PASSED);
    }
    CLOCKS_STORE()
    __syncthreads();
    pass_sums<true>(own_sums, dq + kv_head * rows * HEAD_DIM, rows, part, scale);
    CLOCKS_END()
}
