// flash3-fp8: O = softmax(QK^T) V in 8 bits on Hopper: flash3's warpgroups and e4m3 products. sm_90a only. Not exact.
//
// Idea: e4m3 products run at twice the rate of 16-bit ones, so that the exponentials, as many as before, take as long
// as the products at d = 128. The first launch rounds Q, K and V to e4m3 with a power of two a block of rows
// (fp8_quantise.cuh) and lays the blocks out as the products read them; the second multiplies them.
// Changed from flash3: three warpgroups of 64 rows and 128 keys a tile, as P in 8 bits is small; beyond d = 128 two,
// which take turns at the tensor cores. The product with V comes in shares of 64 columns and that of Q and K in halves
// of 64 keys, each in the registers that the last but one has left. So a warpgroup always has a product under way while
// it adds a share to O in float32 (the tensor core's own sum over 16384 keys loses up to 39 %), and the softmax of the
// first half may begin under the product of the second. The maxima of the tiles before serve on while P stays in range
// (flash3_fp8_softmax.cuh). A block of K or V lies in one piece, so that one bulk copy brings it and no tensor map is
// needed. V lies transposed, since 8-bit operands are contiguous along the depth, and its keys in the order in which a
// thread holds its scores, so that P needs no shuffles.
// Limit: most of a warpgroup's softmax hides only under the products of the others, so that neither the tensor cores
// nor the exponentials are busy all the time. No windows: their masks take registers that d = 128 has not. At N = 1k
// the first launch takes a third to a half of the time. Figures: flash3-fp8-attempts.md.
#include "flash3_fp8_layout.cuh"
#include "flash3_clocks.cuh"
#include "flash3_fp8_softmax.cuh"
#include "flash3_store.cuh"
#include "flash3_tiles.cuh"
#include "fp8_quantise.cuh"
#include "launch_order.cuh"
#include "tma_bulk.cuh"

constexpr int CONSUMERS = GROUPS * 128;  // threads; each arrives by itself when it has read what a barrier guards
static_assert(Q_STAGES == 2, "a stage of Q is also the parity of the tiles drawn");

// A block of threads a block of Q, then of K, then of V.
extern "C" __global__ void __launch_bounds__(QUANTISE_THREADS, 4)
    quantise(const element* q, const element* k, const element* v, unsigned char* q8, unsigned char* k8,
             unsigned char* v8, int q_blocks, int k_tiles, int heads, int kv_heads, int seqlen_q, int seqlen_k,
             float sign) {
    let_next_launch_begin();
    const int of_q = heads * q_blocks, of_k = kv_heads * k_tiles;
    int block = blockIdx.x;
    if (block < of_q) {
        const int head = block / q_blocks, row = block % q_blocks * Q_ROWS;
        quantise_rows<Q_ROWS>(q + ((long long)head * seqlen_q + row) * HEAD_DIM, seqlen_q - row, sign,
                              q8 + (long long)block * Q_BLOCK);
        return;
    }
    block -= of_q;
    const bool values = block >= of_k;
    if (values) block -= of_k;
    const int head = block / k_tiles, key = block % k_tiles * BLOCK_K;
    const long long from = ((long long)head * seqlen_k + key) * HEAD_DIM, to = (long long)block * KV_TILE;
    if (values) quantise_values(v + from, seqlen_k - key, v8 + to);
    else quantise_rows<BLOCK_K>(k + from, seqlen_k - key, 1.0f, k8 + to);
}

// The sums of a share of P V take the registers of half a tile's scores. Where d is no multiple of its columns the last
// one multiplies what lies behind V too, and what comes of that is not added.
constexpr int SHARE = BLOCK_K / 2, SHARES = (HEAD_DIM + SHARE - 1) / SHARE;
constexpr int FIRST = SHARES % 2, SECOND = 1 - FIRST;  // the halves of the scores, in the order of their products

// Half of S = Q K^T.
__device__ __forceinline__ void product_qk(float (&s)[HALF_S], u32 q, u32 k) {
    const u64 dq = operand<HEAD_DIM>(q), dk = operand<HEAD_DIM>(k);
    wgmma_fp8_ss<0>(s, dq, dk);
#pragma unroll
    for (int i = 1; i < HEAD_DIM / 32; ++i) wgmma_fp8_ss<1>(s, dq + i * FURTHER, dk + i * FURTHER);
}
// A share of P V.
__device__ __forceinline__ void product_pv(float (&t)[HALF_S], const u32 (&p)[2][HALF_P], u32 v) {
    const u64 dv = operand<BLOCK_K>(v);
    wgmma_fp8_rs<0>(t, p[0][0], p[0][1], p[0][2], p[0][3], dv);
#pragma unroll
    for (int i = 1; i < BLOCK_K / 32; ++i) {
        const u32 (&half)[HALF_P] = p[i / (HALF_P / 4)];
        const int at = i % (HALF_P / 4) * 4;
        wgmma_fp8_rs<1>(t, half[at], half[at + 1], half[at + 2], half[at + 3], dv + i * FURTHER);
    }
}

// What a warpgroup holds: the scores of a tile, or in their place shares of P V, then P, and what was summed up.
struct State {
    LazySoftmax softmax;
#if TRACE
    Recorder recorder;
#endif
    float s[2][HALF_S], o[O_REGS], unit = 1.0f;  // o in units of the newest tile's scale of V
    u32 p[2][HALF_P];

    __device__ __forceinline__ State() {
#pragma unroll
        for (int i = 0; i < O_REGS; ++i) o[i] = 0.0f;
    }
    // Start the product of half a tile's scores.
    __device__ __forceinline__ void score(int half, u32 q, u32 k) {
        pin(s[half]);
        wgmma_fence();
        product_qk(s[half], q, k + half * (BLOCK_K / 2 * HEAD_DIM));
        wgmma_commit();
    }
    // Start a share of the product with V.
    __device__ __forceinline__ void multiply(int share, u32 v) {
        pin(s[share % 2]); pin(p[0]); pin(p[1]);
        wgmma_fence();
        product_pv(s[share % 2], p, v + share * (SHARE * BLOCK_K));
        wgmma_commit();
    }
    // Add a share; what was summed before is so many of the new units.
    __device__ __forceinline__ void add(int share, float units) {
#pragma unroll
        for (int i = 0; i < HALF_S; ++i) {
            const int at = share * HALF_S + i;
            if (at < O_REGS) o[at] = fmaf(o[at], units, s[share % 2][i]);
        }
    }
    // P of the scores c s whose products were started, with O and l under the maxima that it was computed with.
    template <bool MASK>
    __device__ __forceinline__ void weigh(float c, const RowMask& mask, u32 k_empty) {
        float sum[2] = {0.0f, 0.0f};
        bool fits = false;
#if TRACE
        float factor[2] = {1.0f, 1.0f};
#endif
        if (MASK) {
            wgmma_wait<0>();
            pin(s[0]); pin(s[1]);
            CLOCK_AGAIN(0)
            arrive(k_empty);
            softmax.hide(s, mask);
        } else {
            u32 first[HALF_P];
            wgmma_wait<1>();
            pin(s[FIRST]);
            fits = softmax.weigh(s[FIRST], first, c, sum);
            pin(first);
            wgmma_wait<0>();
            pin(s[SECOND]);
            CLOCK_AGAIN(0)
            arrive(k_empty);
#pragma unroll
            for (int i = 0; i < HALF_P; ++i) p[FIRST][i] = moved(first[i]);
            fits &= softmax.weigh(s[SECOND], p[SECOND], c, sum);
        }
        if (MASK || __any_sync(~0u, !fits)) {
            float alpha[2];
            softmax.raise(s, c, alpha);
            rescale(alpha[0], alpha[1]);
#if TRACE
            factor[0] = alpha[0], factor[1] = alpha[1];
#endif
            sum[0] = sum[1] = 0.0f;
            softmax.weigh(s[0], p[0], c, sum);
            softmax.weigh(s[1], p[1], c, sum);
        }
        softmax.l[0] += sum[0], softmax.l[1] += sum[1];
        CLOCK_AGAIN(1)
#if TRACE
        recorder.scores(reinterpret_cast<const float(&)[S_REGS]>(s), c);
        const float m[2] = {softmax.reference(0), softmax.reference(1)};
        const float l[2] = {softmax.l[0] * P_UNIT, softmax.l[1] * P_UNIT};
        recorder.state(m, l, factor, LN2);
        if (!MASK && __any_sync(~0u, !fits)) recorder.again();
#endif
    }
    __device__ __forceinline__ void finish() { rescale(unit, unit); }

private:
    // A copy. ptxas puts products in series where, between their start and end, an operand of a later one is computed;
    // not where it is copied once they have ended.
    __device__ __forceinline__ static u32 moved(u32 x) {
        u32 y;
        asm volatile("mov.b32 %0, %1;" : "=r"(y) : "r"(x) : "memory");
        return y;
    }
    __device__ __forceinline__ void rescale(float first, float second) {
#pragma unroll
        for (int i = 0; i < O_REGS; ++i) o[i] *= i / 2 % 2 ? second : first;
    }
};

// Two warpgroups take turns at the tensor cores, one for each key tile. Three are no faster for it.
__device__ __forceinline__ void begin_turn(int group) {
    if (GROUPS == 2) named_sync(turn_of(group));
}
__device__ __forceinline__ void end_turn(int group) {
    if (GROUPS == 2) named_arrive(turn_of(1 - group));
}

// The softmax of a key tile whose scores were started.
template <bool MASK>
__device__ __forceinline__ void weigh(State& state, const Shared& at, const Ring& ring, u32 k, float c,
                                      const RowMask& mask) {
    state.weigh<MASK>(fmaxf(c * scale_at(k + TRAILER_AT), 1e-30f), mask, at.k_empty(ring.stage));
}

// The product with V of the key tile in this stage; with NEXT also the scores of the tile after it, and their softmax.
// Products are numbered: SHARES of them with V, then the two halves of the scores.
template <bool NEXT, bool MASK>
__device__ __forceinline__ void attend(State& state, const Shared& at, u32 q, Ring& ring, float c, const RowMask& mask,
                                       int group) {
    const u32 v = __shfl_sync(~0u, at.v + ring.stage * KV_TILE, 0);
    Ring next = ring;
    next.next();
    const u32 k = __shfl_sync(~0u, at.k + next.stage * KV_TILE, 0);
    const auto start = [&](int product) {
        if (product < SHARES) return state.multiply(product, v);
        if (NEXT && product == SHARES) wait(at.k_full(next.stage), next.phase);
        if (NEXT) state.score(product % 2, q, k);
    };
    wait(at.v_full(ring.stage), ring.phase);
    begin_turn(group);
    CLOCK_AGAIN(2)
    start(0);
    start(1);
    const float unit = scale_at(v + TRAILER_AT), units = state.unit * reciprocal(unit);
    state.unit = unit;
#pragma unroll
    for (int share = 0; share < SHARES; ++share) {
        if (NEXT || share + 1 < SHARES) wgmma_wait<1>();
        else wgmma_wait<0>();
        pin(state.s[share % 2]);
        if (share + 1 == SHARES) {
            pin(state.p[0]); pin(state.p[1]);
            arrive(at.v_empty(ring.stage));
        }
        state.add(share, units);
        start(share + 2);
    }
    CLOCK_AGAIN(3)
    CLOCKS_WRITE()
#if TRACE
    state.recorder.output(state.o, false, unit * P_UNIT);
#endif
    end_turn(group);
    ring = next;
    if (NEXT) weigh<MASK>(state, at, ring, k, c, mask);
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash3_fp8(const unsigned char* q8, const unsigned char* k8, const unsigned char* v8, unsigned short* out,
               float* lse, int heads, int group_heads, int section, int seqlen_q, int seqlen_k, float score_factor,
               int* counter CLOCKS_GIVEN
#if TRACE
               ,
               const __grid_constant__ Recording recording
#endif
    ) {
    extern __shared__ __align__(1024) unsigned char raw[];
    Shared at;
    at.q = ((u32)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    at.v = at.q + Q_STAGES * Q_TILE;
    at.k = at.v + STAGES * KV_TILE;  // behind V, whose last share may read too far
    at.barriers = at.k + STAGES * KV_TILE;
    CLOCKS_BEGIN()
    const int tiles_q = (seqlen_q + BLOCK_Q - 1) / BLOCK_Q, tiles = tiles_q * heads;
    if (threadIdx.x == 0) {
        initialise(at, CONSUMERS);
    }
    __syncthreads();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);

    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (threadIdx.x == 0) {
            wait_for_launch_before();
            Ring ring;
            QRing rq;
            int2 place = Work::place(blockIdx.x, tiles, heads, section, tiles_q, Tables());
            const long long k_tiles = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
            while (place.x >= 0) {
                const int tile = gridDim.x + atomicAdd(counter, 1);
                const Work work(place, seqlen_q, seqlen_q, seqlen_k, 0, 0, 1, Tables(), Lengths(), 1);
                const long long q_tile = (long long)work.head * tiles_q + work.q0 / BLOCK_Q;
                const long long k_tile = work.head / group_heads * k_tiles;
                CLOCKS_OF_TILE(work.head * tiles_q + work.q0 / BLOCK_Q)
                wait(at.q_empty(rq.stage), rq.phase ^ 1);
                CLOCK(2)
                load_bytes(at.q + rq.stage * Q_TILE, q8 + q_tile * Q_TILE, Q_TILE, at.q_full(rq.stage));
                CLOCK(3)
                CLOCKS_WRITE_LOADS()
                for (int j = work.last; j >= work.begin; --j, ring.next()) {  // none where the rows see no key
                    const long long from = (k_tile + j) * KV_TILE;
                    wait(at.k_empty(ring.stage), ring.phase ^ 1);
                    CLOCK(0)
                    load_bytes(at.k + ring.stage * KV_TILE, k8 + from, KV_TILE, at.k_full(ring.stage));
                    CLOCK(1)
                    wait(at.v_empty(ring.stage), ring.phase ^ 1);
                    CLOCK(2)
                    load_bytes(at.v + ring.stage * KV_TILE, v8 + from, KV_TILE, at.v_full(ring.stage));
                    CLOCK(3)
                    CLOCKS_WRITE_LOADS()
                }
                place = Work::place(tile, tiles, heads, section, tiles_q, Tables());
                wait(at.tile_empty(), rq.stage ^ 1);
                put_place(at, place);
                arrive(at.tile_full());
                rq.next();
            }
            __threadfence();
            if (atomicInc((u32*)counter + 1, gridDim.x - 1) == gridDim.x - 1) atomicExch(counter, 0);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        wait_for_launch_before();
        const int group = warpgroup - 1, lane = threadIdx.x % 32;
        const u32 q_base = __shfl_sync(~0u, at.q + group * Q_BLOCK, 0);
        const int shift = 2 * (lane % 4), row_in_tile = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
        if (group == 1) end_turn(group);
        Ring ring;
        QRing rq;
        int2 place = Work::place(blockIdx.x, tiles, heads, section, tiles_q, Tables());
        // The keys before `to` of a row, counted from the thread's first column in key tile j.
        const auto mask_of = [&](const Work& work, int j) {
            const int row = work.q0 + row_in_tile + seqlen_k - seqlen_q, tile = j * BLOCK_K + shift;
            RowMask mask;
#pragma unroll
            for (int r = 0; r < 2; ++r) mask.to[r] = (CAUSAL ? min(row + 8 * r + 1, seqlen_k) : seqlen_k) - tile;
            return mask;
        };
        while (place.x >= 0) {
            const Work work(place, seqlen_q, seqlen_q, seqlen_k, 0, 0, 1, Tables(), Lengths(), 1);
            const Own own(work, group, seqlen_q, seqlen_q, seqlen_k, 0);
            State state;
            CLOCKS_OF_TILE(work.head * tiles_q + work.q0 / BLOCK_Q)
            int j = work.last;
#if TRACE
            state.recorder.begin(recording, work.head, 0, work.q0 / BLOCK_Q * ((seqlen_k + BLOCK_K - 1) / BLOCK_K) + own.last,
                                 row_in_tile, seqlen_q - work.q0);
#endif
            for (; j > own.last; --j, ring.next()) {  // tiles that only the other warpgroups need
                wait(at.k_full(ring.stage), ring.phase);
                arrive(at.k_empty(ring.stage));
                wait(at.v_full(ring.stage), ring.phase);
                arrive(at.v_empty(ring.stage));
                begin_turn(group);
                end_turn(group);
            }
            const u32 q = __shfl_sync(~0u, q_base + rq.stage * Q_TILE, 0);
            wait(at.q_full(rq.stage), rq.phase);
            const float c = score_factor * scale_at(q + Q_ROWS * HEAD_DIM);
            if (j >= work.begin) {
                const u32 k = __shfl_sync(~0u, at.k + ring.stage * KV_TILE, 0);
                wait(at.k_full(ring.stage), ring.phase);
                CLOCK_AGAIN(3)
                state.score(FIRST, q, k);
                state.score(SECOND, q, k);
                CLOCKS_WRITE()
                weigh<true>(state, at, ring, k, c, mask_of(work, j));  // finds maxima
                for (--j; j >= work.begin && (j + 1) * BLOCK_K > own.limit; --j)
                    attend<true, true>(state, at, q, ring, c, mask_of(work, j), group);
#pragma unroll 1
                for (; j >= work.begin; --j) attend<true, false>(state, at, q, ring, c, RowMask(), group);
                attend<false, false>(state, at, q, ring, c, RowMask(), group);
            }
            arrive(at.q_empty(rq.stage));
            CLOCK_AGAIN(0)
            state.finish();
            store_rows(state.o, state.softmax.finished(), out, lse, work.head, work.q0 + row_in_tile, seqlen_q, LN2,
                       seqlen_q, seqlen_q);
            CLOCK_AGAIN(1)
            CLOCKS_WRITE()
            wait(at.tile_full(), rq.stage);
            take_place(place.x, place.y, at);
            place = make_int2(__shfl_sync(~0u, place.x, 0), __shfl_sync(~0u, place.y, 0));
            arrive(at.tile_empty());
            rq.next();
        }
    }
    CLOCKS_END()
}
