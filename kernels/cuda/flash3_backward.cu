// flash3, backward, on Hopper (FlashAttention-3, arXiv 2407.08608, Appendix B.1): TMA loads, wgmma, a warpgroup that only
// copies. sm_90a only.
//
// Idea: as in flash2's backward pass a block owns the keys and passes the queries that see them, and S^T = K Q^T and
// dP^T = V dO^T leave P^T and dS^T in the registers that dV += P^T dO and dK += dS^T Q take them from (TURNED: dK takes
// dS from shared memory). Each of two warpgroups has 64 of the block's 128 keys. For dQ = dS K both put dS in shared
// memory, and each computes half of dQ's elements over all keys, TURNED as dQ^T = K^T dS^T; the sums of dQ lie in HBM
// as they lie in registers, so that additions are coalesced.
// The warpgroups take turns at the tensor cores: from dQ, dV and dK of a step to S and dP of the next one these belong
// to one of them, while the other computes P and dS. So the first one's dQ is a step behind. PEELED: a first step in
// which no query sees the second one's keys has no such products of its own, before the loop. Blocks draw tiles of keys
// from a counter, those with most queries first (LATE_DRAW: under a causal mask when few loads of a tile are left), and
// load the next one's K and V while they store one's gradients or, with two stages of them, before. Two warps that are
// left zero sums of dQ just before they are added to, so that the L2 holds them then (flash3_backward_zeros.cuh); under
// other masks, with wide causal heads and if DETERMINISTIC, another launch does.
// Changed from flash2's: operands stay in shared memory, where wgmma reads them; mbarriers and numbered barriers for two
// warpgroups replace __syncthreads.
// Known to be wrong with it: the order of the additions to dQ is not the same in every run. DETERMINISTIC gives tiles of
// keys turns at it (flash3_backward_turns.cuh): the same bits in every run, and waits.
// Limit: shared memory. S and dP, 64 rows of either operand a product, read it as fast as it can be read, and leave an
// eighth with 80 rows of Q and dO; then the turns, which leave the tensor cores idle from a step's dK to the next one's
// S; few queries, where three launches and 8 bytes an element for the sums of dQ show. Figures, and what was tried:
// flash3-backward-attempts.md.
#include "flash3_backward_clocks.cuh"
#include "flash3_backward_layout.cuh"
#include "flash3_backward_loads.cuh"
#include "flash3_backward_rows.cuh"
#include "flash3_backward_trace.cuh"
#include "flash3_backward_weights.cuh"
#include "wgmma.cuh"

// The products, each under way until it is waited for. S^T or dP^T: 64 keys by the queries of a tile; both operands with
// the head dimension contiguous.
__device__ __forceinline__ void start_rows(float (&s)[S_REGS], u32 keys, u32 queries) {
    pin(s);
    wgmma_fence();
    const u64 a = descriptor(keys, 16), b = descriptor(queries, 16);
    wgmma_ss<0>(s, a, b);
#pragma unroll
    for (int i = 1; i < HEAD_DIM / 16; ++i)
        wgmma_ss<1>(s, a + (i / 4 * K_PANEL + i % 4 * 32 >> 4), b + (i / 4 * Q_PANEL + i % 4 * 32 >> 4));
    wgmma_commit();
}
// dV += P^T dO or dK += dS^T Q: the queries are what is summed over, 16 of them 2048 bytes.
__device__ __forceinline__ void start_columns(float (&sums)[D_REGS], u32 (&p)[S_REGS / 2], u32 queries) {
    const u64 b = descriptor(queries, Q_PANEL);
#pragma unroll
    for (int i = 0; i < BLOCK_Q / 16; ++i)
        wgmma_rs(sums, p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3], b + (i * 2048 >> 4));
    wgmma_commit();
}
// dK likewise, with dS^T from shared memory.
__device__ __forceinline__ void start_columns(float (&sums)[D_REGS], u32 ds, u32 queries) {
    const u64 a = descriptor(ds, Q_PANEL), b = descriptor(queries, Q_PANEL);
#pragma unroll
    for (int i = 0; i < BLOCK_Q / 16; ++i) wgmma_t<1, 1>(sums, a + (i * 2048 >> 4), b + (i * 2048 >> 4));
    wgmma_commit();
}
// dQ: 64 queries of dS by 64 columns of K, over so many keys of the block; TURNED: the columns by all queries.
template <int keys = BLOCK_K>
__device__ __forceinline__ void start_dq(float (&dq)[DQ_REGS], u32 ds, u32 k) {
    pin(dq);
    wgmma_fence();
    if constexpr (TURNED) {
        const u64 a = descriptor(k, K_PANEL), b = descriptor(ds, 16);
        wgmma_t<0, 0>(dq, a, b);
#pragma unroll
        for (int i = 1; i < keys / 16; ++i)
            wgmma_t<1, 0>(dq, a + (i * 2048 >> 4), b + (i / 4 * Q_PANEL + i % 4 * 32 >> 4));
    } else {
        const u64 a = descriptor(ds, K_PANEL), b = descriptor(k, K_PANEL);
        wgmma_t<0, 1>(dq, a, b);
#pragma unroll
        for (int i = 1; i < keys / 16; ++i) wgmma_t<1, 1>(dq, a + (i * 2048 >> 4), b + (i * 2048 >> 4));
    }
    wgmma_commit();
}

struct BackwardArguments : Tables, Turns, ZeroCounters {};

extern "C" __global__ void __launch_bounds__(THREADS, 1)
    flash3_backward(const __grid_constant__ TensorMap map_q, const __grid_constant__ TensorMap map_k,
                    const __grid_constant__ TensorMap map_v, const __grid_constant__ TensorMap map_grad,
                    const float* states, float* dq_sums, element* dk_out, element* dv_out, int* counter, int kv_heads,
                    int group, int section, int seqlen_q, int seqlen_k, int window_left, int window_right, float scale,
                    int zero_shares, int zeroed_together, const __grid_constant__ BackwardArguments given
                    SCORING_GIVEN CLOCKS_GIVEN TRACE_GIVEN) {
    let_next_launch_begin();
    extern __shared__ __align__(1024) unsigned char raw[];
    const Shared at(((u32)__cvta_generic_to_shared(raw) + 1023) & ~1023u);
    CLOCKS_BEGIN()
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const Tables tables = given;
    const ZeroCounters zeroed = given;
    const int tiles_q = (seqlen_q + BLOCK_Q - 1) / BLOCK_Q;
    if (threadIdx.x == 0) initialise(at);
    __syncthreads();
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);

    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (threadIdx.x == 0) load_tiles(at, map_q, map_k, map_v, map_grad, states, group, tiles_q, tables);
        else if (threadIdx.x == 32) draw_keys(at, counter, kv_heads, section, seqlen_q, seqlen_k, mask, tables);
        else {
            if constexpr (DETERMINISTIC) {
                if (threadIdx.x % 32 == 0)
                    give_turns(at, threadIdx.x / 32 - 2, given.counters(), group, tiles_q, mask, tables);
            }
            if constexpr (AHEAD) {
                if (threadIdx.x >= FIRST_ZERO_THREAD) {
                    const Zeros zeros{zeroed.zero_counters(), zero_shares, zeroed_together, kv_heads, group, tiles_q};
                    zero_ahead(at, zeros, dq_sums);
                }
            }
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        wait_for_launch_before();
        const int part = warpgroup - 1, lane = threadIdx.x % 32, warp_row = threadIdx.x % 128 / 32 * 16;
        const bool leader = lane == 0;
        const int lag = 1 - part;  // steps by which dQ comes behind: the other warpgroup's dS of this one is not there yet
        const int row = part * 64 + warp_row + lane / 4;
        const float c = scale * LOG2E;
        // Of dS: where this thread stores, and what is multiplied for dQ.
        const u32 ds_row = TURNED ? at.ds + part * Q_PANEL + (lane / 16 * 8 + lane % 8) * 128 +
                                        ((warp_row / 8 + lane / 8 % 2) ^ lane % 8) * 16
                                  : at.ds + (part * 64 + warp_row + lane % 16) * 128;
        const u32 ds_own = __shfl_sync(~0u, at.ds + part % Q_PANELS * K_PANEL, 0);
        float dk[D_REGS], dv[D_REGS], s[S_REGS], dp[S_REGS], dq[DQ_REGS];
        u32 p[S_REGS / 2], ds[S_REGS / 2];
        TRACED(Recorder recorder(recording, part, warp_row + lane / 4);)
        Ring ring;
        KeyRing key_ring;
#pragma unroll 1
        for (;; key_ring.next()) {
            const int ks = key_ring.stage;
            wait(at.drawn_full(ks), key_ring.phase);
            Keys keys = Keys::read(at.drawn(ks));
            keys = Keys{__shfl_sync(~0u, keys.head, 0), __shfl_sync(~0u, keys.k0, 0), __shfl_sync(~0u, keys.first, 0),
                        __shfl_sync(~0u, keys.end, 0)};
            if (keys.head < 0) break;
            CLOCKS_OF_TILE(keys)
            const int steps = keys.steps(group), k_first = keys.k0 + part * 64;
            const u32 k_tile = __shfl_sync(~0u, at.k + ks * K_BYTES, 0), v_tile = k_tile + KEY_STAGES * K_BYTES;
            Sums sums(dq_sums, keys, group, tiles_q, part, tables);
            int head = keys.head * group, place = keys.first;
            const auto start_dq_of = [&](int stage) {
                start_dq(dq, __shfl_sync(~0u, ds_own + stage * DS_BYTES, 0), k_tile + part % PANELS * K_PANEL);
            };
            const auto add_at_once = [&] {
                add_dq(sums.at(keys, tiles_q), dq);
                sums.next(keys, group, tiles_q);
            };
            const auto add_in_turn = [&] {
                wait(may_add(at, part), ring.stage ^ lag);
                CLOCK(10)
                add_dq(sums.at(keys, tiles_q), dq);
                end_turn(at, part, leader);
                sums.next(keys, group, tiles_q);
            };
#pragma unroll
            for (int i = 0; i < D_REGS; ++i) dk[i] = dv[i] = 0.0f;
            if (steps) {
                wait(at.k_full(ks), key_ring.phase);
                if (part) named_arrive(Barrier::FIRST_TURN);
            }
            int step = 0;
            if (PEELED && part && steps && mask.end(keys.first * BLOCK_Q + BLOCK_Q - 1) <= k_first) {
                // No query of the first tile sees a key of this warpgroup: dS is 0, all that is left is its half of dQ.
                const u32 weights = __shfl_sync(~0u, ds_own + ring.stage * DS_BYTES, 0);
                TRACED(recorder.tile(keys.head, 0, place * BLOCK_Q, seqlen_q, keys.k0, seqlen_k);)
                hide_weights(weights + part * Q_PANEL);
                publish_stores();
                CLOCK(4)
                named_sync(Barrier::SECOND_TURN);
                CLOCK(5)
                if (TURNED && steps == 1) named_arrive(Barrier::LAST_DS);
                start_dq<64>(dq, weights, k_tile + part % PANELS * K_PANEL);
                wait(at.v_full(ks), key_ring.phase);
                if (leader) arrive(at.grad_empty(ring.stage));
                if (leader) arrive(at.q_empty(ring.stage));
                CLOCKS_WRITE(1)
                wgmma_wait<0>();
                pin(dq);
                CLOCK(6)
                TRACED(recorder.add_queries(dq, false);)
                if constexpr (DETERMINISTIC) add_in_turn();
                else add_at_once();
                CLOCK(7)
                ring.next();
                advance(head, place, keys, group);
                ++step;
            }
#pragma unroll 1
            for (; step < steps; ++step) {
                const int stage = ring.stage;
                const u32 q_now = __shfl_sync(~0u, at.q + stage * Q_BYTES, 0);
                const u32 grad_now = q_now + STAGES * Q_BYTES;
                const u32 state = at.states + stage * STATE_BYTES + lane % 4 * 8;
                wait(at.q_full(stage), ring.phase);
                CLOCK(0)
                start_rows(s, k_tile + part * 64 * 128, q_now);
                if (step == 0) wait(at.v_full(ks), key_ring.phase);
                wait(at.grad_full(stage), ring.phase);
                start_rows(dp, v_tile + part * 64 * 128, grad_now);
                if (step) named_arrive(turn_of(1 - part));
                wgmma_wait<1>();
                pin(s);
                CLOCK(1)
#if SOFTCAP || ALIBI
                const int q0 = tile_at(place, keys, tables) * BLOCK_Q;
                const Scored scored(scoring, scale, head, keys.k0 + row - q0 - lane % 4 * 2 - (seqlen_k - seqlen_q));
#if SOFTCAP
                wgmma_wait<0>();
                pin(dp);
                probabilities(s, dp, state, state + BLOCK_Q * 4, scored);
#else
                probabilities(s, state, scored);
#endif
#else
                probabilities(s, state, c);
                const int q0 = tile_at(place, keys, tables) * BLOCK_Q;
#endif
                if (k_first + 64 > mask.end(q0) || k_first < mask.begin(q0 + BLOCK_Q - 1))
                    hide(s, Visible(mask, keys.k0 + row, q0 + lane % 4 * 2));
                if (SPARSE && tables.masked(place)) hide_blocks(s, tables, keys.k0 + row, q0, seqlen_q, seqlen_k);
                CLOCK(2)
                wgmma_wait<0>();
                pin(dp);
                CLOCK(3)
                TRACED(recorder.tile(keys.head, head - keys.head * group, q0, seqlen_q, keys.k0, seqlen_k);)
                TRACED(recorder.weights(s, dp, state + BLOCK_Q * 4);)
                if constexpr (!TURNED) pack_all(p, s);
                if constexpr (TURNED) {
                    put_turned(p, s, dp, state + BLOCK_Q * 4, ds_row + stage * DS_BYTES);
                } else {
                    weights(dp, s, state + BLOCK_Q * 4);
                    pack_all(ds, dp);
                    put_weights(ds_row + stage * DS_BYTES, ds);
                }
                publish_stores();
                CLOCK(4)
                named_sync(turn_of(part));
                CLOCK(5)
                if (TURNED && part && step == steps - 1) named_arrive(Barrier::LAST_DS);
                start_dq_of(stage ^ lag);
                pin(dv); pin(p); pin(dk);
                if constexpr (!TURNED) pin(ds);
                wgmma_fence();
                start_columns(dv, p, grad_now);
                if constexpr (TURNED)
                    start_columns(dk, __shfl_sync(~0u, at.ds + stage * DS_BYTES + part * Q_PANEL, 0), q_now);
                else start_columns(dk, ds, q_now);
                CLOCKS_WRITE_WITH(step + 1, at.q_full(stage), at.grad_full(stage))
                wgmma_wait<2>();
                pin(dq);
                CLOCK(6)
                TRACED(if (step >= lag) recorder.add_queries(dq, lag);)
                if (step >= lag) {
                    if constexpr (DETERMINISTIC) add_in_turn();
                    else add_at_once();
                }
                CLOCK(7)
                wgmma_wait<1>();
                pin(dv); pin(p);
                CLOCK(8)
                if (leader) arrive(at.grad_empty(stage));
                wgmma_wait<0>();
                pin(dk);
                if constexpr (!TURNED) pin(ds);
                CLOCK(9)
                TRACED(recorder.sums(dk, dv);)
                if (leader) arrive(at.q_empty(stage));
                ring.next();
                advance(head, place, keys, group);
            }
            if (steps) {
                CLOCKS_WRITE_WITH(steps + 1, at.k_full(ks), at.v_full(ks))
                if (!TURNED || !part) named_arrive(part ? Barrier::LAST_DS : Barrier::SECOND_TURN);
                if (lag) {
                    named_sync(Barrier::LAST_DS);
                    CLOCK(0)
                    start_dq_of(ring.stage ^ 1);
                    wgmma_wait<0>();
                    pin(dq);
                    CLOCK(1)
                    TRACED(recorder.add_queries(dq, false);)
                    if constexpr (DETERMINISTIC) add_in_turn();
                    else add_at_once();
                    CLOCK(2)
                }
            }
            if (leader) arrive(at.keys_empty(ks));
            CLOCK(3)
            const long long first_key = (long long)keys.head * seqlen_k * HEAD_DIM;
            const long long first_value = NARROW_V ? (long long)keys.head * seqlen_k * HEAD_DIM_V : first_key;
            store_rows(dk, scale, dk_out + first_key, keys.k0 + row, seqlen_k);
            store_rows<HEAD_DIM_V>(dv, 1.0f, dv_out + first_value, keys.k0 + row, seqlen_k, HEAD_DIM_V);
            CLOCK(4)
            CLOCKS_WRITE(steps ? steps + 2 : 1)
        }
        CLOCKS_END()
    }
}
