// flash3-fp8: O = softmax(QK^T) V in 8 bits on Hopper: flash3's warpgroups and e4m3 products. sm_90a only. Not exact.
//
// Idea: e4m3 products run at twice the rate of 16-bit ones, so that the exponentials, as many as before, take as long
// as the products at d = 128. The first launch rounds Q, K and V to e4m3 with a power of two a block of rows
// (fp8_quantise.cuh) and lays the blocks out as the products read them; the second multiplies them.
// Changed from flash3: three warpgroups of 64 rows and 128 keys a tile, as P in 8 bits is small; each takes product,
// softmax and product in turn, and it is the other two that keep the tensor cores busy meanwhile. The sums of a tile
// with V take the registers of its scores and are added to O in float32, as the tensor core's own sum over 16384 keys
// loses up to 39 %. The maxima of the tiles before serve on while P stays in range (flash3_fp8_softmax.cuh). A block
// of K or V lies in one piece, so that one bulk copy brings it and no tensor map is needed. V lies transposed, since
// 8-bit operands are contiguous along the depth, and its keys in the order in which a thread holds its scores, so
// that P needs no shuffles.
// Limit: neither the tensor cores nor the exponentials are busy more than 60 % of the time, as a warpgroup's softmax
// hides only under the products of the other two. No windows: their masks take registers that d = 128 has not. At
// N = 1k the first launch takes a third to a half of the time. Figures: flash3-fp8-attempts.md.
#include "flash3_fp8_layout.cuh"
#include "flash3_fp8_softmax.cuh"
#include "flash3_tiles.cuh"
#include "fp8_quantise.cuh"
#include "tma_bulk.cuh"

static_assert(Q_STAGES == 2, "a stage of Q is also the parity of the tiles drawn");

// A block of threads a block of Q, then of K, then of V.
extern "C" __global__ void __launch_bounds__(QUANTISE_THREADS, 4)
    quantise(const element* q, const element* k, const element* v, unsigned char* q8, unsigned char* k8,
             unsigned char* v8, int q_blocks, int k_tiles, int heads, int kv_heads, int seqlen_q, int seqlen_k,
             float sign) {
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

// The product with V comes in parts of so many columns that its sums find room beside O.
constexpr int PARTS = HEAD_DIM > 192 ? 2 : 1, T_REGS = O_REGS / PARTS;

// S = Q K^T.
__device__ __forceinline__ void product_qk(float (&s)[S_REGS], u32 q, u32 k) {
    const u64 dq = operand<HEAD_DIM>(q), dk = operand<HEAD_DIM>(k);
    wgmma_fp8_ss<0>(s, dq, dk);
#pragma unroll
    for (int i = 1; i < HEAD_DIM / 32; ++i) wgmma_fp8_ss<1>(s, dq + i * FURTHER, dk + i * FURTHER);
}
// T = P V.
__device__ __forceinline__ void product_pv(float (&t)[T_REGS], const u32 (&p)[P_REGS], u32 v) {
    const u64 dv = operand<BLOCK_K>(v);
    wgmma_fp8_rs<0>(t, p[0], p[1], p[2], p[3], dv);
#pragma unroll
    for (int i = 1; i < BLOCK_K / 32; ++i)
        wgmma_fp8_rs<1>(t, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], dv + i * FURTHER);
}

// What a warpgroup's rows have summed up.
struct State {
    LazySoftmax softmax;
    float o[O_REGS], unit = 1.0f;  // in units of the newest tile's scale of V

    __device__ __forceinline__ State() {
#pragma unroll
        for (int i = 0; i < O_REGS; ++i) o[i] = 0.0f;
    }
    // P of a tile's scores c s, with O and l under the maxima that P was computed with.
    template <bool MASK>
    __device__ __forceinline__ void weigh(float (&s)[S_REGS], u32 (&p)[P_REGS], float c, const Mask& mask) {
        float sum[2];
        if (MASK) softmax.hide(s, mask);
        if (MASK || __any_sync(~0u, !softmax.weigh(s, p, c, sum))) {
            float alpha[2];
            softmax.raise(s, c, alpha);
            rescale(alpha[0], alpha[1]);
            softmax.weigh(s, p, c, sum);
        }
        softmax.l[0] += sum[0], softmax.l[1] += sum[1];
    }
    // One part of a tile's product with V; what was summed before is so many of the new units.
    __device__ __forceinline__ void add(const float (&t)[T_REGS], int part, float units) {
#pragma unroll
        for (int i = 0; i < T_REGS; ++i) {
            float& x = o[part * T_REGS + i];
            x = fmaf(x, units, t[i]);
        }
    }
    __device__ __forceinline__ void finish() { rescale(unit, unit); }

private:
    __device__ __forceinline__ void rescale(float first, float second) {
#pragma unroll
        for (int i = 0; i < O_REGS; ++i) o[i] *= i / 2 % 2 ? second : first;
    }
};

// A warp has read what the barrier guards.
__device__ __forceinline__ void release(u32 bar) {
    __syncwarp();
    if (threadIdx.x % 32 == 0) arrive(bar);
}

// One key tile: its scores, their softmax, its product with V, whose sums take the registers of the scores.
template <bool MASK>
__device__ __forceinline__ void attend(State& state, const Shared& at, u32 q, Ring& ring, float c, const Mask& mask) {
    const u32 k = __shfl_sync(~0u, at.k + ring.stage * KV_TILE, 0);
    const u32 v = __shfl_sync(~0u, at.v + ring.stage * KV_TILE, 0);
    u32 p[P_REGS];
    {
        float s[S_REGS];
        wait(at.k_full(ring.stage), ring.phase);
        pin(s);
        wgmma_fence();
        product_qk(s, q, k);
        wgmma_commit();
        c = fmaxf(c * scale_at(k + TRAILER_AT), 1e-30f);
        wgmma_wait<0>();
        pin(s);
        release(at.k_empty(ring.stage));
        state.weigh<MASK>(s, p, c, mask);
    }
    wait(at.v_full(ring.stage), ring.phase);
    float units;
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        float t[T_REGS];
        pin(t); pin(p);
        wgmma_fence();
        product_pv(t, p, v + part * (BLOCK_K * HEAD_DIM / PARTS));
        wgmma_commit();
        if (part == 0) {
            units = state.unit * scale_at(v + TRAILER_AT + 4);
            state.unit = scale_at(v + TRAILER_AT);
        }
        wgmma_wait<0>();
        pin(t); pin(p);
        if (part == PARTS - 1) release(at.v_empty(ring.stage));
        state.add(t, part, units);
    }
    ring.next();
}

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash3_fp8(const unsigned char* q8, const unsigned char* k8, const unsigned char* v8, unsigned short* out,
               float* lse, int heads, int group_heads, int section, int seqlen_q, int seqlen_k, float score_factor, int* counter) {
    extern __shared__ __align__(1024) unsigned char raw[];
    Shared at;
    at.q = ((u32)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    at.k = at.q + Q_STAGES * Q_TILE;
    at.v = at.k + STAGES * KV_TILE;
    at.barriers = at.v + STAGES * KV_TILE;
    const int tiles_q = (seqlen_q + BLOCK_Q - 1) / BLOCK_Q, tiles = tiles_q * heads;
    if (threadIdx.x == 0) {
        for (int s = 0; s < Q_STAGES; ++s) {
            barrier_init(at.q_full(s), 1);
            barrier_init(at.q_empty(s), GROUPS * 4);
        }
        barrier_init(at.tile_full(), 1);
        barrier_init(at.tile_empty(), GROUPS * 4);
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(at.k_full(s), 1);
            barrier_init(at.v_full(s), 1);
            barrier_init(at.k_empty(s), GROUPS * 4);
            barrier_init(at.v_empty(s), GROUPS * 4);
        }
        barriers_are_initialised();
    }
    __syncthreads();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);

    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (threadIdx.x == 0) {
            Ring ring;
            QRing rq;
            int2 place = Work::place(blockIdx.x, tiles, heads, section, tiles_q);
            const long long k_tiles = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
            while (place.x >= 0) {
                const int tile = gridDim.x + atomicAdd(counter, 1);
                const Work work(place, seqlen_q, seqlen_k, 0, 0);
                const long long q_tile = (long long)work.head * tiles_q + work.q0 / BLOCK_Q;
                const long long k_tile = work.head / group_heads * k_tiles;
                wait(at.q_empty(rq.stage), rq.phase ^ 1);
                load_bytes(at.q + rq.stage * Q_TILE, q8 + q_tile * Q_TILE, Q_TILE, at.q_full(rq.stage));
                for (int j = work.last; j >= work.begin; --j, ring.next()) {  // none where the rows see no key
                    const long long from = (k_tile + j) * KV_TILE;
                    wait(at.k_empty(ring.stage), ring.phase ^ 1);
                    load_bytes(at.k + ring.stage * KV_TILE, k8 + from, KV_TILE, at.k_full(ring.stage));
                    wait(at.v_empty(ring.stage), ring.phase ^ 1);
                    load_bytes(at.v + ring.stage * KV_TILE, v8 + from, KV_TILE, at.v_full(ring.stage));
                }
                place = Work::place(tile, tiles, heads, section, tiles_q);
                wait(at.tile_empty(), rq.stage ^ 1);
                asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at.next_tile()), "r"(place.x), "r"(place.y)
                             : "memory");
                arrive(at.tile_full());
                rq.next();
            }
            __threadfence();
            if (atomicInc((u32*)counter + 1, gridDim.x - 1) == gridDim.x - 1) atomicExch(counter, 0);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        const int group = warpgroup - 1, lane = threadIdx.x % 32;
        const u32 q_base = __shfl_sync(~0u, at.q + group * Q_BLOCK, 0);
        const int shift = 2 * (lane % 4), row_in_tile = group * 64 + threadIdx.x % 128 / 32 * 16 + lane / 4;
        Ring ring;
        QRing rq;
        int2 place = Work::place(blockIdx.x, tiles, heads, section, tiles_q);
        // The keys before `to` of a row, counted from the thread's first column in key tile j.
        const auto mask_of = [&](const Work& work, int j) {
            const int row = work.q0 + row_in_tile + seqlen_k - seqlen_q, tile = j * BLOCK_K + shift;
            Mask mask;
#pragma unroll
            for (int r = 0; r < 2; ++r) mask.to[r] = (CAUSAL ? min(row + 8 * r + 1, seqlen_k) : seqlen_k) - tile;
            return mask;
        };
        while (place.x >= 0) {
            const Work work(place, seqlen_q, seqlen_k, 0, 0);
            const Own own(work, group, seqlen_q, seqlen_k, 0);
            State state;
            int j = work.last;
            for (; j > own.last; --j, ring.next()) {  // tiles that only the other warpgroups need
                wait(at.k_full(ring.stage), ring.phase);
                release(at.k_empty(ring.stage));
                wait(at.v_full(ring.stage), ring.phase);
                release(at.v_empty(ring.stage));
            }
            const u32 q = __shfl_sync(~0u, q_base + rq.stage * Q_TILE, 0);
            wait(at.q_full(rq.stage), rq.phase);
            const float c = score_factor * scale_at(q + Q_ROWS * HEAD_DIM);
            for (; j >= work.begin && (j == own.last || CUT_RIGHT(own, j)); --j)  // the first finds maxima
                attend<true>(state, at, q, ring, c, mask_of(work, j));
#pragma unroll 1
            for (; j >= work.begin; --j) attend<false>(state, at, q, ring, c, Mask());
            release(at.q_empty(rq.stage));
            state.finish();
            store_rows(state.o, state.softmax.finished(), out, lse, work.head, work.q0 + row_in_tile, seqlen_q, LN2);
            wait(at.tile_full(), rq.stage);
            asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];"
                         : "=r"(place.x), "=r"(place.y)
                         : "r"(at.next_tile())
                         : "memory");
            place = make_int2(__shfl_sync(~0u, place.x, 0), __shfl_sync(~0u, place.y, 0));
            release(at.tile_empty());
            rq.next();
        }
    }
}
