// flash3: O = softmax(QK^T) V on Hopper (FlashAttention-3, arXiv 2407.08608): TMA loads, wgmma, and warpgroups with
// different jobs. sm_90a only.
//
// Idea: one warp asks the TMA for tiles; two or three warpgroups of 64 query rows each multiply them with wgmma, which
// reads its operands from shared memory by itself while the warpgroup goes on. So the softmax of key tile j runs under
// the product of P and V of tile j + 1 (OVERLAP), and the warpgroups take turns at the tensor cores (PINGPONG): one
// multiplies while another exponentiates. Blocks stay and draw tile after tile from a counter (SCHEDULE), longest
// first, in sections of heads whose K and V the L2 holds. Where each has one tile, it asks for Q and the first keys
// before its warps have met, and a warpgroup starts when its own rows of Q are there (EARLY).
// Under a block mask (SPARSE) tables name each tile's key tiles, so that what is dropped is neither loaded nor computed.
// Changed from flash2: no thread copies or holds an operand but P, so that registers hold S and O of 64 rows whole;
// setmaxnreg moves the producer's registers to the consumers; mbarriers replace __syncthreads.
// Few tiles are shared out finer (kernels/catalogue/flash3_share.py): smaller ones, heads packed into a tile's rows (PACKED), keys
// in parts (SPLIT) whose results a second launch merges, flash3_combine.cuh. Sequences may differ in length, and their
// keys lie in pages: flash3_lengths.cuh, flash3_pages.cuh.
// Limit: one or two waves of short tiles; at d = 64 the softmax, with an exponential for every 256 operations
// and 16 of them a clock and SM. Measured on an H200 in bfloat16, N = 16k, beside cuDNN in the same run (TFLOP/s):
// d = 64 611 (495), causal 593 (468); d = 128 767 (691), causal 734 (636); d = 256 846 (752), causal 819 (655).
// A block mask of 128 x 128 blocks takes the dense time times the kept share and, at N = 16k and d = 128, 0 % more with
// all blocks kept, 2 % with half, 10 % with an eighth, 20 % with a sixteenth: a tile of queries costs two steps besides.
//
// The ladder, each a variant in flash3.py: flash3-a all three 0; flash3-b OVERLAP and PINGPONG; flash3-c SCHEDULE too;
// flash3 with EARLY, FREE_FIRST, HALVES, LIFT, LAZY (flash3_softmax.cuh), BOXED (flash3_store.cuh) and two buffers of Q where
// they win. Tried (flash3-attempts.md) and lost:
//   the last PV of a tile under the first QK of the next -1 to -4 % at d = 64, where it once won, -1 to -10 % elsewhere
//   hints to the L2 about what to keep                   -4 to -6 % in decoding
//   a store that keeps the wait for PV below the softmax -1 to -9 %: packing interleaves better when it comes early
//   a polynomial of degree 3 for part of the exp2        breaks the bound of LSE
//   L2 prefetch of the next tile                         +1 % at N = 1k, -4 to -5 % at 16k
//   static persistent blocks                             -15 % causal: uneven tiles
//
// Keys are walked downwards, so that the masked tiles come first. The consumers' addresses go through __shfl_sync to
// be uniform to the compiler: without it every product moves its descriptor, R2UR, in the main loop.
#ifndef PINGPONG
#define PINGPONG 0
#endif
#ifndef FREE_FIRST
#define FREE_FIRST 0  // 1: the first product of a tile waits for no turn
#endif
#ifndef Q_STAGES
#define Q_STAGES 1
#endif
#include "flash3_layout.cuh"
#include "flash3_softmax.cuh"
#if SPARSE
#include "flash3_blocks.cuh"
#else
#include "flash3_tiles.cuh"
#endif
#if SPLIT
#include "flash3_combine.cuh"
#else
#include "flash3_store.cuh"
#endif
#include "flash3_producer.cuh"
#include "flash3_products.cuh"
#include "launch_order.cuh"
#include "wgmma.cuh"

static_assert(!RAGGED || OVERLAP, "V's padding is cleared between the first softmax of a tile and its first PV");

// What was summed up before the last key tile, in the units that its maximum asks for.
__device__ __forceinline__ void rescale(float (&o)[O_REGS], const Softmax& state) {
    if (!LAZY || __any_sync(~0u, state.moved)) {
#pragma unroll
        for (int i = 0; i < O_REGS; ++i) o[i] *= state.alpha[i / 2 % 2];
    }
}
// Of a key tile that needs no mask.
#if ALIBI
#define UNMASKED(j) mask_of(work, j)
#else
#define UNMASKED(j) RowMask()
#endif
// A key tile: S, then the product with V. OVERLAP: S of this tile, then O += P V of the tile before, whose softmax is
// done: this one's runs under the product. That tile had `BEFORE` keys.
template <bool MASK, int BEFORE = BLOCK_K>
__device__ __forceinline__ void attend(float (&s)[S_REGS], u32 (&p)[S_REGS / 2], float (&o)[O_REGS], Softmax& state,
                                       const Shared& at, u32 q, Ring& rk, Ring& rv, int group, const Factor& c,
                                       const RowMask& mask) {
    const bool leader = threadIdx.x % 32 == 0;
    if constexpr (OVERLAP) {
        const u32 k_now = __shfl_sync(~0u, at.k + rk.stage * K_BYTES, 0);
        const u32 v_now = __shfl_sync(~0u, at.v + rv.stage * V_BYTES, 0);
        wait(at.k_full(rk.stage), rk.phase);
        if (PINGPONG) named_sync(turn_of(group));
        CLOCK(3)
        pin(s); pin(o); pin(p);
        wgmma_fence();
        product_qk(s, q, k_now);
        wgmma_commit();
        wait(at.v_full(rv.stage), rv.phase);
        wgmma_fence();
        product_pv<BEFORE>(o, p, v_now);
        wgmma_commit();
        if (PINGPONG) named_arrive(turn_of((group + 1) % GROUPS));
        CLOCKS_WRITE()
        wgmma_wait<1>();
        pin(s);
        CLOCK(0)
        if (leader) arrive(at.k_empty(rk.stage));
        state.step<MASK>(s, c, mask);
        wgmma_wait<0>();
        pin(o); pin(p);
        RECORD(state.output(o, true))
        if (leader) arrive(at.v_empty(rv.stage));
        rk.next();
        rv.next();
        pack_all(p, s);
        rescale(o, state);
        CLOCK(2)
    } else {
        wait(at.k_full(rk.stage), rk.phase);
        CLOCK(3)
        pin(s); pin(o); pin(p);
        wgmma_fence();
        product_qk(s, q, at.k + rk.stage * K_BYTES);
        wgmma_commit();
        CLOCKS_WRITE()
        wgmma_wait<0>();
        pin(s); pin(o); pin(p);
        CLOCK(0)
        if (leader) arrive(at.k_empty(rk.stage));
        rk.next();
        state.step<MASK>(s, c, mask);
        pack_all(p, s);
        rescale(o, state);
        CLOCK(2)
        wait(at.v_full(rv.stage), rv.phase);
        pin(o); pin(p);
        wgmma_fence();
        product_pv<BLOCK_K>(o, p, at.v + rv.stage * V_BYTES);
        wgmma_commit();
        wgmma_wait<0>();
        pin(o); pin(p);
        CLOCK(1)
        RECORD(state.output(o, false))
        if (leader) arrive(at.v_empty(rv.stage));
        rv.next();
    }
}

// What only some builds are given; elsewhere its parts take no bytes. What every launch is given are parameters of their
// own: as members of a struct they are loaded in another order, and ptxas takes other registers.
struct Flash3Arguments : Tables, Lengths, PageTable {};

extern "C" __global__ void __launch_bounds__(THREADS, RESIDENTS)
    flash3(const __grid_constant__ TensorMap map_q, const __grid_constant__ TensorMap map_k,
           const __grid_constant__ TensorMap map_v, Output* out, RowSum* lse, int heads, int group_heads, int section,
           int seqlen_q, int seqlen_k, int left, int right, float scale, int* counter, int splits, int sequence_heads,
           const __grid_constant__ Flash3Arguments given SCORING_GIVEN
#if BOXED
           ,
           const __grid_constant__ TensorMap map_o
#endif
           RECORDING_GIVEN
           CLOCKS_GIVEN
    ) {
    if (SPLIT) let_next_launch_begin();
    extern __shared__ __align__(1024) unsigned char raw[];
    Shared at;
    at.q = ((u32)__cvta_generic_to_shared(raw) + 1023) & ~1023u;
    at.k = at.q + Q_STAGES * Q_BYTES;
    at.v = at.k + STAGES * K_BYTES;
    at.barriers = at.v + STAGES * V_BYTES;
    CLOCKS_BEGIN()
    const Tables tables = given;
    const Lengths lengths = given;
    const int tiles_q = (seqlen_q + BLOCK_Q - 1) / BLOCK_Q, tiles = tiles_q * heads;
    const int head_rows = PACKED ? seqlen_q / group_heads : seqlen_q;
    if (threadIdx.x == 0) {
        initialise(at, GROUPS * 4);
        CLOCK(2)
        if constexpr (EARLY) {
            const Work work(Work::place(blockIdx.x, tiles, heads, section, tiles_q, tables), seqlen_q, head_rows,
                            seqlen_k, left, right, splits, tables, lengths, sequence_heads);
            if (!work.empty()) load_first(at, map_q, map_k, work, splits, group_heads);
        }
        CLOCK(3)
    }
    __syncthreads();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);

    if (warpgroup == 0) {
        produce(at, map_q, map_k, map_v, tables, lengths, given, heads, group_heads, section, seqlen_q, head_rows,
                seqlen_k, left, right, counter, splits, sequence_heads, tiles_q, tiles);
    } else {
        if (MOVES_REGISTERS) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        const int group = warpgroup - 1, lane = threadIdx.x % 32;
        const bool leader = lane == 0;
#if SOFTCAP
        const Factor c{scoring.softcap * LOG2E, scale * scoring.inverse};
        const float unit = SCALED ? LN2 : scoring.softcap;
#else
        const float c = fmaxf(scale * 1.4426950408889634f, 1e-30f), unit = SCALED ? LN2 : scale;
#endif
        const u32 q_base = __shfl_sync(~0u, at.q + group * 8192, 0);
        const int warp_row = threadIdx.x % 128 / 32 * 16;
        const int shift = 2 * (lane % 4), row_in_tile = group * 64 + warp_row + lane / 4;
        Ring rk, rv;
        QRing rq;
        [[maybe_unused]] u32 tile_phase = 0;
        int2 place = Work::place(blockIdx.x, tiles, heads, section, tiles_q, tables);
        if constexpr (PINGPONG) {
            if (group == GROUPS - 1) named_arrive(turn_of(0));
        }
        float o[O_REGS], s[S_REGS];
        u32 p[S_REGS / 2];
        Softmax state;
        const auto advance = [&] {  // to the next tile of this block
            if constexpr (SCHEDULE) {
                wait(at.tile_full(), tile_phase);
                take_place(place.x, place.y, at);
                place = make_int2(__shfl_sync(~0u, place.x, 0), __shfl_sync(~0u, place.y, 0));
                if (leader) arrive(at.tile_empty());
                tile_phase ^= 1;
            } else {
                place.x = -1;
            }
        };
        const auto clear = [&] {
#pragma unroll
            for (int i = 0; i < O_REGS; ++i) o[i] = 0.0f;
        };
#if SINKS || ALIBI
        RowHeads heads_of;
#endif
#if SINKS && !SPLIT
        const auto total = [&](Softmax& state) {
            const int query_heads = PACKED ? sequence_heads * group_heads : sequence_heads;
            state.total({sink_of(scoring, heads_of.of[0] % query_heads), sink_of(scoring, heads_of.of[1] % query_heads)});
        };
#else
        const auto total = [](Softmax& state) { state.total(); };
#endif
#if ALIBI
        float slopes[2];
#endif
        // The keys [from, to) of a row, counted from the thread's first column in key tile j.
        const auto mask_of = [&](const Work& work, int j) {
            const int queries = RAGGED ? work.queries : head_rows, keys = RAGGED ? work.keys : seqlen_k;
            const int first = work.q0 + row_in_tile, tile = (SPARSE ? __ldg(work.list + j) : j * BLOCK_K) + shift;
            RowMask mask;
#pragma unroll
            for (int r = 0; r < 2; ++r) {
                const int row = (PACKED ? (first + 8 * r) % head_rows : first + 8 * r) + keys - queries;
                mask.to[r] = (CAUSAL || WINDOW ? min(row + 1 + right, keys) : keys) - tile;
                mask.from[r] = row - left - tile;
                if (SPARSE) mask.keep(r, tables.kept_from(row, tile - shift, seqlen_q, seqlen_k));
#if ALIBI
                mask.slope[r] = slopes[r], mask.bias[r] = slopes[r] * float(tile - row);
#endif
            }
            return mask;
        };
#if BOXED
        bool stores = false;  // from the other buffer of Q, which is not given back yet
        const auto give_back = [&] {
            if (leader && stores) {
                stores_are_read();
                arrive(at.q_empty(rq.stage ^ 1));
            }
            stores = false;
        };
#endif
        // The scores of a tile's first keys.
        const auto first_qk = [&](auto& scores, u32 q) {
            const u32 k_now = __shfl_sync(~0u, at.k + rk.stage * K_BYTES, 0);
            wait(at.k_full(rk.stage), rk.phase);
            if (PINGPONG && !FREE_FIRST) named_sync(turn_of(group));
            CLOCK(3)
            pin(scores);
            wgmma_fence();
            product_qk(scores, q, k_now);
            wgmma_commit();
            if (PINGPONG && !FREE_FIRST) named_arrive(turn_of((group + 1) % GROUPS));
            CLOCKS_WRITE()
#if BOXED
            give_back();
#endif
            wgmma_wait<0>();
            pin(scores);
            CLOCK(0)
            if (leader) arrive(at.k_empty(rk.stage));
            rk.next();
        };
        const auto last_pv = [&] {
            const u32 v_now = __shfl_sync(~0u, at.v + rv.stage * V_BYTES, 0);
            wait(at.v_full(rv.stage), rv.phase);
            CLOCK(3)
            pin(o); pin(p);
            wgmma_fence();
            product_pv<BLOCK_K>(o, p, v_now);
            wgmma_commit();
            CLOCKS_WRITE()
            if (TOTALS_UNDER_PV) total(state);
            if (TOTALS_UNDER_PV) advance();
            wgmma_wait<0>();
            pin(o); pin(p);
            RECORD(state.output(o, false))
            if (leader) arrive(at.v_empty(rv.stage));
            rv.next();
        };
        while (place.x >= 0) {
            const Work work(place, seqlen_q, head_rows, seqlen_k, left, right,
                            splits, tables, lengths, sequence_heads);
            CLOCKS_OF_TILE(work.head * tiles_q + work.q0 / BLOCK_Q)
#if SINKS || ALIBI
            heads_of.take(SPLIT ? work.head / splits : work.head, work.q0 + row_in_tile, head_rows, group_heads);
#endif
#if ALIBI
            for (int r = 0; r < 2; ++r) slopes[r] = scoring.slopes[heads_of.of[r]] * LOG2E;
#endif
            if (work.empty()) {
                clear();
                CLOCK(0)
#if SINKS && !SPLIT
                total(state = Softmax());
                store_rows(o, state, out, lse, work.head, work.q0 + row_in_tile, seqlen_q,
                           unit, head_rows, RAGGED ? work.queries : head_rows);
#else
                store_rows(o, Softmax(), out, lse, work.head, work.q0 + row_in_tile, seqlen_q,
                       unit, head_rows, RAGGED ? work.queries : head_rows);
#endif
                CLOCK(1)
                CLOCKS_WRITE()
                advance();
                continue;
            }
            const Own own(work, group, seqlen_q, head_rows, seqlen_k, right);
            int j = work.last;
            const u32 q = __shfl_sync(~0u, q_base + rq.stage * Q_BYTES, 0);
            wait(at.q_full(rq.stage, ONE_TILE ? group : 0), rq.phase);
            if constexpr (OVERLAP) {
                for (; j > own.last; --j) {  // tiles that only the other warpgroups need
                    if (PINGPONG && (!FREE_FIRST || j > work.begin)) {
                        named_sync(turn_of(group));
                        named_arrive(turn_of((group + 1) % GROUPS));
                    }
                    wait(at.k_full(rk.stage), rk.phase);
                    if (leader) arrive(at.k_empty(rk.stage));
                    wait(at.v_full(rv.stage), rv.phase);
                    if (leader) arrive(at.v_empty(rv.stage));
                    rk.next();
                    rv.next();
                }
            }
            clear();
            state = Softmax();
            RECORD(const int tiles_k = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
                   state.begin(recording, work.head / splits, tiles_q * tiles_k, work.q0 / BLOCK_Q * tiles_k + j, row_in_tile,
                               (RAGGED && !PACKED ? work.queries : seqlen_q) - work.q0))
            if constexpr (OVERLAP) {
                if (j >= work.begin && own.half(j)) {
                    if constexpr (HALVES) {
                        auto& half = reinterpret_cast<float(&)[HALF_KEYS / 2]>(s);
                        first_qk(half, q);
                        state.step<true>(half, c, mask_of(work, j));
                        pack_all(p, half);
                        CLOCK(2)
                        if (--j >= work.begin) {
                            attend<false, HALF_KEYS>(s, p, o, state, at, q, rk, rv, group, c, UNMASKED(j));
                            --j;
                        }
                    }
                } else if (j >= work.begin) {
                    first_qk(s, q);
                    if constexpr (SPARSE || !CAUSAL && (ONE_TILE || HEAD_DIM <= 64 && GROUPS == 2)) {
                        // Without a mask if it may be: that pays in a wave or two of tiles.
                        if (!(SPARSE ? j >= own.whole : (j + 1) * BLOCK_K > own.limit) &&
                            (WINDOW && !SPARSE ? j * BLOCK_K >= work.lower : true))
                            state.step<false>(s, c, UNMASKED(j));
                        else state.step<true>(s, c, mask_of(work, j));
                    } else {
                        state.step<true>(s, c, mask_of(work, j));
                    }
                    pack_all(p, s);
                    CLOCK(2)
                    if constexpr (RAGGED) {
                        if ((j + 1) * BLOCK_K > work.keys) clear_tail(at, rv, group, work.keys - j * BLOCK_K);
                    }
                    --j;
                }
                if (HALVES) asm volatile("" : "+r"(j));  // or the loops below are compiled twice
            }
            for (; j >= work.begin && (SPARSE ? j >= own.whole : (j + 1) * BLOCK_K > own.limit); --j)
                attend<true>(s, p, o, state, at, q, rk, rv, group, c, mask_of(work, j));
#pragma unroll 1
            for (; j >= work.begin && (WINDOW && !SPARSE ? j * BLOCK_K >= work.lower : true); --j)
                attend<false>(s, p, o, state, at, q, rk, rv, group, c, UNMASKED(j));
            if constexpr (WINDOW && !SPARSE) {
                for (; j >= work.begin; --j)
                    attend<true>(s, p, o, state, at, q, rk, rv, group, c, mask_of(work, j));
            }
            if (!BOXED && leader) arrive(at.q_empty(rq.stage));
            if constexpr (OVERLAP) {
                if (own.last >= work.begin) {
                    last_pv();
                } else if (TOTALS_UNDER_PV) {
                    total(state);
                    advance();
                }
            } else {
                CLOCKS_WRITE()
            }
            CLOCK(0)
            if (!TOTALS_UNDER_PV) total(state);
#if BOXED
            give_back();
            store_boxes(o, state, map_o, out, lse, q + warp_row * 128, work.head, work.q0 + group * 64 + warp_row,
                        seqlen_q, unit);
            stores = true;
#else
            store_rows(o, state, out, lse, work.head, work.q0 + row_in_tile, seqlen_q, unit, head_rows,
                       RAGGED ? work.queries : head_rows);
#endif
            CLOCK(1)
            CLOCKS_WRITE()
            rq.next();
            if (!TOTALS_UNDER_PV) advance();
        }
#if BOXED
        if (leader) stores_are_read();
#endif
    }
    CLOCKS_END()
}
