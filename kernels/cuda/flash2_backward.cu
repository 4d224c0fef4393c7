// flash2, backward: dQ, dK and dV from Q, K, V, O, LSE and dO (FlashAttention-2, arXiv 2307.08691, Algorithm 2), on the
// tensor cores with mma.sync.
//
// Idea: a block owns KEYS keys of one K/V head and passes by all queries that see them, of all query heads of the group:
// dK and dV stay in registers, and no other block adds to them.
// Changed from flash1: a tile of keys is a block of its own, so that batch * kv_heads * Nk / KEYS blocks fill the GPU;
// delta = rowsum(dO O) is taken once, in a launch before. Changed from its forward pass: five products a tile instead of
// two; LSE stands for the online softmax.
// Limit: shared memory, which every operand is read from: by count 6.4 to 8 clocks of it beside 6.5 of an mma.sync on
// Hopper. Then dQ, which every block of keys adds to in HBM, in float. Measured on an H200 in bfloat16, N = 4k, beside
// FlashAttention-2 (TFLOP/s): d = 64 345 (269), d = 128 305 (289), d = 256 251 (245).
// Known to be wrong with it: the order of those additions is not the same in every run. DETERMINISTIC leaves dQ to a
// launch of its own, with the queries outside: seven products instead of five, and the same bits in every run.
#include "flash2_backward_products.cuh"
#include "flash2_backward_queries.cuh"
#include "flash2_backward_walk.cuh"

struct Given {
    const element *q, *k, *v, *grad_output;
    const RowState* states;
};

// A tile of queries and their states to one of the stages.
__device__ __forceinline__ void copy_queries(const Shared& shared, int stage, const Given& given, const Walk& at) {
    const int rows = at.rows();
    const long long first = ((long long)at.head * at.seqlen_q + at.q0) * HEAD_DIM;
    const unsigned q = QueryTile::thread_target(shared.q(stage));
    QueryTile::copy(q, QueryTile::thread_source(given.q + first, HEAD_DIM), HEAD_DIM, rows, HEAD_DIM);
    const unsigned grad = OWN_V ? GradTile::thread_target(shared.q(stage) + QueryTile::BYTES) : q + QueryTile::BYTES;
    const long long first_grad = OWN_V ? ((long long)at.head * at.seqlen_q + at.q0) * HEAD_DIM_V : first;
    GradTile::copy(grad, GradTile::thread_source(given.grad_output + first_grad, HEAD_DIM_V), HEAD_DIM_V, rows,
                   HEAD_DIM_V);
    const int two = 2 * threadIdx.x;  // states; those behind the last query are zeros, as is dO there
    if (two >= QUERIES) return;
    const RowState* const states = given.states + (long long)at.head * padded(at.seqlen_q) + at.q0 + two;
    copy_chunk(shared_address(shared.states(stage) + two), states, two < rows);
}

// dK and dV; unless DETERMINISTIC also the sums of dQ, which still lack the scale.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    flash2_backward_keys(const element* q, const element* k, const element* v, const element* grad_output,
                         const RowState* states, float* dq_sums, element* dk, element* dv, int kv_heads, int together,
                         int group, int seqlen_q, int seqlen_k, int window_left, int window_right, float scale,
                         const int* kept SCORING_GIVEN CLOCKS_GIVEN TRACE_GIVEN) {
    CLOCKS_BEGIN()
    TRACED(Recorder recorder(recording);)
    extern __shared__ __align__(1024) unsigned char raw[];
    const Shared shared{raw};
    const Place place = Place::of();
    const Given given{q, k, v, grad_output, states};
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const Owned owned = Owned::of(blockIdx.x, kv_heads, together, seqlen_k);
    const unsigned target = KeyTile::thread_target(shared.k());
    KeyTile::copy(target, KeyTile::thread_source(k + owned.first(), HEAD_DIM), HEAD_DIM, owned.keys(), HEAD_DIM);
    ValueTile::copy(OWN_V ? ValueTile::thread_target(shared.v()) : target + KeyTile::BYTES,
                    ValueTile::thread_source(v + owned.first_value(), HEAD_DIM_V), HEAD_DIM_V, owned.keys(), HEAD_DIM_V);
    Walk walk(mask, kept, seqlen_q, owned, group);
    if (walk.more()) copy_queries(shared, 0, given, walk);
    commit_copies();

    Fragments acc_k = {};
    ValueFragments acc_v = {};
    const int tiles = padded(seqlen_q) / 16;  // fragments of a head's queries
#if SOFTCAP || ALIBI
    const float factor = 1.0f;  // scores are in base 2
    const int shift = seqlen_k - seqlen_q;
#else
    const float factor = scale * LOG2E;
#endif
#pragma unroll 1
    for (int stage = 0; walk.more(); stage = 1 - stage) {
        const int q0 = walk.q0, rows = walk.rows(), fragment_row = walk.head * tiles + q0 / 16;
        TRACED(recorder.tile(owned.kv_head, walk.head - owned.kv_head * group, q0, seqlen_q, owned.k0, seqlen_k);)
#if SOFTCAP || ALIBI
        const ScoreTerms terms = ScoreTerms::of(scoring, scale * LOG2E, scale, walk.head);
#endif
        walk.next();
        CLOCK(0)
        wait_copies<0>();
        __syncthreads();  // this Q and dO are complete; the previous ones, P and dS done with
        if (walk.more()) copy_queries(shared, 1 - stage, given, walk);
        commit_copies();
        CLOCK(1)
        TRACED(recorder.deltas(shared.states(stage), THREADS);)
        if (place.computes()) {
            const bool all = whole(mask, q0, q0 + rows - 1, owned.k0, KEYS);
UNROLL_HALVES
            for (int first = 0; first < SHARE; first += AT_ONCE) {
                add_own(acc_k, acc_v, shared, stage, place, place.part * SHARE + first, factor, mask, all, q0,
                        owned.k0 + place.first_key, first / AT_ONCE TERMS_PASSED CLOCKS_PASSED TRACE_PASSED);
            }
        }
        if (SHARED_DS) __syncthreads();  // all of P and dS is there
        CLOCK_OF_ALL(0)
        if (SHARED_P) {
            add_others<GradTile>(acc_v, shared_address(shared.p()), shared.q(stage) + QueryTile::BYTES, place,
                                 place.first_value_column());
            add_others<QueryTile>(acc_k, shared_address(shared.ds()), shared.q(stage), place,
                                  place.first_column() CLOCK_OF_ALL_BEGUN(1));
            if (DETERMINISTIC) { CLOCK_OF_ALL(2) }  // else dQ's begin is its end
        }
        TRACED(recorder.key_rows(recording.dk, acc_k, place.first_key, place.first_column() * 16);)
        TRACED(recorder.key_rows(recording.dv, acc_v, place.first_key, place.first_value_column() * 16);)
        if (!DETERMINISTIC) add_queries(shared, dq_sums, fragment_row, tiles - q0 / 16 CLOCKS_PASSED TRACE_PASSED);
        TRACED(if (threadIdx.x == 0) recorder.stamp();)
        CLOCKS_WRITE()
    }

    CLOCKS_STORE()
    wait_copies<0>();
    __syncthreads();  // K and V are done with
    scale_all(acc_k, scale);
    const Owned again = Owned::of(block_again(), kv_heads, together, seqlen_k);
    store_part<KeyTile, HEAD_DIM>(shared.base, acc_k, place, place.first_column(), dk + again.first(), again.keys());
    store_part<ValueTile, HEAD_DIM_V>(shared.base + KeyTile::BYTES, acc_v, place, place.first_value_column(),
                                      dv + again.first_value(), again.keys());
    CLOCKS_END()
}
