// flash3, backward, for head dims over 128, on Hopper: the registers of a block hold dK and dV of 64 keys, and two blocks
// work together. sm_90a only.
//
// Idea: the warpgroups have parts of their own. The first computes S^T = K Q^T and P and adds to dV; the second computes
// dP^T = V dO^T and dS and adds to dK. P passes from the first to the second through shared memory, where dS then takes
// its place for dQ. With 64 keys a block would add a sum of dQ for every 64 products, more than the L2 can take, so that
// blocks go in pairs (a cluster): each sends its dS to the other one, and multiplies half of dQ's columns over the keys of
// both. Of Q and dO each loads half the rows for both.
// The warpgroups take turns at the tensor cores: dV of a step and a half of dQ of the one before; dK and the other half;
// S of the next step; its dP. P is computed under dP, dS under dV. So Q is held for nine tenths of a step, dO for four.
// Changed from flash3_backward.cu: P as dS sees it is rounded to 16 bits; a block takes one tile of keys.
// Known to be wrong with it: the order of the additions to dQ is not the same in every run. DETERMINISTIC gives pairs of
// blocks turns at it (flash3_backward_turns.cuh), and they draw their tiles of keys: the same bits in every run, and waits.
// Limit: the additions to dQ still; shared memory, which holds 2 tiles of Q and 1.5 of dO at head dim 256. Figures, and
// what was tried: flash3-backward-attempts.md.
#include "flash3_backward_wide_clocks.cuh"
#include "flash3_backward_wide_loads.cuh"
#include "flash3_backward_wide_products.cuh"
#include "flash3_backward_rows.cuh"
#include "flash3_backward_wide_trace.cuh"

// Numbered barriers: turns at the tensor cores, and P of a step.
enum class Turn { DV = 1, DK, S, DP, P_READY };

template <bool b>
struct Flag {
    static constexpr bool value = b;
};
struct Work {
    WideShared at;
    Keys keys;
    Mask mask;
    int rank, k0, key;  // of the block in its pair; the block's first key, this thread's first
    int group, tiles_q, steps;
    u32 weights_row;  // of those that this thread's warp moves to or from `weights`, this thread's
    float c;
    float* dq_sums;
#if SOFTCAP || ALIBI
    const Scoring& scoring;
    float scale;
    int shift;  // Nk - Nq
#endif

    __device__ __forceinline__ int part(int group) const { return GROUPS * rank + group; }  // 64 columns of dQ
    __device__ __forceinline__ Sums sums(int group_of_warps) const {
        return Sums(dq_sums, keys, group, tiles_q, part(group_of_warps), Tables());
    }
    // What a step added to dQ, by the buffer of its dS: DETERMINISTIC has as many phases of turns. The clock that it may is
    // the one before the clock that it has.
    __device__ __forceinline__ void add(Sums& sums, const float (&dq)[DQ_REGS], int group_of_warps, int buffer) const {
        if (part(group_of_warps) < PARTS) {
            if (DETERMINISTIC) {
                wait(at.may_add(group_of_warps), buffer);
                CLOCK(6 + group_of_warps)
            }
            add_dq(sums.at(keys, tiles_q), dq);
            if (DETERMINISTIC) {
                __syncwarp();
                if (threadIdx.x % 32 == 0) arrive(at.has_added(group_of_warps));
            }
        }
        CLOCK(7 + group_of_warps)
        sums.next(keys, group, tiles_q);
    }
};

// The first warpgroup: S, P, dV, and 64 columns of dQ, a step behind.
__device__ __forceinline__ void scores_and_dv(const Work& work, float (&dv)[PIECES][PIECE_REGS] TRACE_TAKEN) {
    const WideShared& at = work.at;
    const int lane = threadIdx.x % 32;
    const bool leader = lane == 0;
    float s[S_REGS], dq[DQ_REGS];
    u32 p[S_REGS / 2];
    QueryRing queries;
    GradRing grads;
    Sums sums = work.sums(0);
    int place = work.keys.first, head = work.keys.head * work.group, buffer = 0;

    // In two groups, so that the second warpgroup's turn can begin before the last products end.
    const auto start_s = [&] {
        const u32 k = uniform(at.k), q = uniform(at.q + queries.stage * TILE_BYTES);
        constexpr u32 LAST = (PANELS - 1) * PANEL_BYTES;
        CLOCKS_OF_LOADED(StageClocks::LOADS, at.q_full(queries.stage), at.q_full(queries.stage))
        CLOCK(0)
        pin(s);
        wgmma_fence();
        add_rows<PANELS - 1, 0>(s, k, q);
        wgmma_commit();
        add_rows<1, 1>(s, k + LAST, q + LAST);
        wgmma_commit();
    };
    const auto finish_s = [&](int step) {
        wgmma_wait<0>();
        CLOCK(1)
        pin(s);
#if SOFTCAP || ALIBI
        const int q0 = tile_at(place, work.keys, Tables()) * ROWS;
        const u32 state = at.states + queries.stage * STATE_BYTES + lane % 4 * 8;
        const Scored scored(work.scoring, work.scale, head, work.key - q0 - lane % 4 * 2 - work.shift);
#if SOFTCAP
        float sloped[S_REGS];
        probabilities(s, sloped, state, scored);
        if (work.k0 + ROWS > work.mask.end(q0) || work.k0 < work.mask.begin(q0 + ROWS - 1))
            hide(sloped, Visible(work.mask, work.key, q0 + lane % 4 * 2));
#else
        probabilities(s, state, scored);
#endif
#else
        probabilities(s, at.states + queries.stage * STATE_BYTES + lane % 4 * 8, work.c);
        const int q0 = tile_at(place, work.keys, Tables()) * ROWS;
#endif
        if (work.k0 + ROWS > work.mask.end(q0) || work.k0 < work.mask.begin(q0 + ROWS - 1))
            hide(s, Visible(work.mask, work.key, q0 + lane % 4 * 2));
        TRACED(recorder.tile(work.keys, work.group, head, q0);)
        TRACED(recorder.weights(recorder.to.p, s);)
        __syncwarp();
        if (leader) release(at.q_empty(queries.stage));
        queries.next();
        advance(head, place, work.keys, work.group);
        pack_all(p, s);
        if (step >= 2) wait(at.weights_empty(buffer), step / 2 - 1 & 1);
#if SOFTCAP
        u32 q[S_REGS / 2];
        pack_all(q, sloped);
        put_weights(work.weights_row + buffer * PANEL_BYTES, q);
#else
        put_weights(work.weights_row + buffer * PANEL_BYTES, p);
#endif
        CLOCK(2)
        named_arrive(Turn::P_READY);
    };
    const auto take_step = [&](int step, auto more) {
        wait_for_stages<GRAD_STAGES, PIECES>(grads, at.grad_full(0));
        if (step) wait(at.received_full(buffer ^ 1), (step - 1) / 2 & 1);
        named_sync(Turn::DV);
        CLOCK(3)
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece) pin(dv[piece]);
        pin(p);
        wgmma_fence();
        GradRing now = grads;
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece, now.next())
            add_columns(dv[piece], p, uniform(at.grad + now.stage * PIECE_BYTES));
        wgmma_commit();
        start_dq(dq, at, buffer ^ 1, work.rank, 0);
        wgmma_wait<1>();
        CLOCK(4)
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece) pin(dv[piece]);
        pin(p);
        TRACED(for (int piece = 0; piece < PIECES; ++piece)
                   recorder.sums(recorder.to.dv, dv[piece], piece * (HEAD_DIM / PIECES));)
        named_arrive(Turn::DK);
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece, grads.next())
            if (leader) release(at.grad_empty(grads.stage));
        wgmma_wait<0>();
        CLOCK(5)
        pin(dq);
        if (step) {
            if (leader) arrive_in(at.weights_empty(buffer ^ 1), work.rank ^ 1);
            TRACED(recorder.add_queries(dq, work.part(0), true);)
            work.add(sums, dq, 0, buffer ^ 1);
        }
        CLOCKS_WRITE(step)
        buffer ^= 1;
        if (more.value) {
            wait(at.q_full(queries.stage), queries.phase);
            named_sync(Turn::S);
            start_s();
            wgmma_wait<1>();
            named_arrive(Turn::DP);
            finish_s(step + 1);
        }
    };

    wait(at.k_full(), 0);
    CLOCKS_OF_LOADED(StageClocks::LOADS + 2, at.k_full(), at.k_full())
    wait(at.q_full(0), 0);
    start_s();
    finish_s(0);
    const int last = work.steps - 1;
#pragma unroll 1
    for (int step = 0; step < last; ++step) take_step(step, Flag<true>());
    take_step(last, Flag<false>());
    wait(at.received_full(buffer ^ 1), last / 2 & 1);
    named_sync(Turn::DV);
    CLOCK(3)
    start_dq(dq, at, buffer ^ 1, work.rank, 0);
    wgmma_wait<0>();
    CLOCK(5)
    pin(dq);
    TRACED(recorder.add_queries(dq, work.part(0), false);)
    work.add(sums, dq, 0, buffer ^ 1);
}

// The second warpgroup: dP, dS, dK, and the next 64 columns of dQ.
__device__ __forceinline__ void weights_and_dk(const Work& work, float (&dk)[D_REGS] TRACE_TAKEN) {
    const WideShared& at = work.at;
    const int lane = threadIdx.x % 32;
    const bool leader = lane == 0;
    float dp[S_REGS], dq[DQ_REGS];
    u32 ds[S_REGS / 2];
    QueryRing queries;
    GradRing grads;
    Sums sums = work.sums(1);
    int buffer = 0;

    const auto start_dp = [&] {  // in two groups, as S
        constexpr u32 LAST = (PIECE_PANELS - 1) * PANEL_BYTES;
        CLOCKS_OF_LOADED(StageClocks::LOADS, at.grad_full(grads.stage), at.grad_full((grads.stage + PIECES - 1) % GRAD_STAGES))
        CLOCK(0)
        pin(dp);
        wgmma_fence();
        GradRing now = grads;
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece, now.next()) {
            const u32 v = uniform(at.v + piece * PIECE_BYTES), grad = uniform(at.grad + now.stage * PIECE_BYTES);
            if (piece < PIECES - 1) {
                add_rows<PIECE_PANELS, 0>(dp, v, grad);
            } else {
                add_rows<PIECE_PANELS - 1, (PIECES > 1)>(dp, v, grad);
                wgmma_commit();
                add_rows<1, 1>(dp, v + LAST, grad + LAST);
            }
        }
        wgmma_commit();
    };
    const auto finish_dp = [&] {
        wgmma_wait<0>();
        CLOCK(1)
        pin(dp);
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece, grads.next())
            if (leader) release(at.grad_empty(grads.stage));
    };
    const auto take_step = [&](int step, auto more) {
        const int stage = queries.stage;
        const u32 weights_row = work.weights_row + buffer * PANEL_BYTES;
        wait(at.q_full(stage), queries.phase);
        named_sync(Turn::P_READY);
        CLOCK(2)
        {
            float p[S_REGS];
            get_weights(p, weights_row);
            TRACED(recorder.next_tile(work.keys, work.group);)
            TRACED(recorder.weights(recorder.to.dp, dp);)
            TRACED(recorder.deltas(at.states + stage * STATE_BYTES + BLOCK_Q * 4);)
            weights(dp, p, at.states + stage * STATE_BYTES + BLOCK_Q * 4 + lane % 4 * 8);
        }
        TRACED(recorder.weights(recorder.to.ds, dp);)
        pack_all(ds, dp);
        put_weights(weights_row, ds);
        publish_stores();
        __syncwarp();
        if (threadIdx.x % 128 == 0) expect(at.received_full(buffer), PANEL_BYTES);
        if (leader) {
            const u32 rows = buffer * PANEL_BYTES + threadIdx.x % 128 / 32 * 2048;
            send_bytes(at.received + rows, at.weights + rows, 2048, at.received_full(buffer), work.rank ^ 1);
        }
        CLOCK(3)
        named_sync(Turn::DK);
        CLOCK(4)
        pin(dk);
        pin(ds);
        wgmma_fence();
        add_columns(dk, ds, uniform(at.q + stage * TILE_BYTES));
        wgmma_commit();
        wait(at.received_full(buffer), step / 2 & 1);
        start_dq(dq, at, buffer, work.rank, 1);
        wgmma_wait<1>();
        CLOCK(5)
        pin(dk);
        pin(ds);
        TRACED(recorder.sums(recorder.to.dk, dk, 0);)
        if (more.value) named_arrive(Turn::S);
        if (leader) release(at.q_empty(stage));
        wgmma_wait<0>();
        CLOCK(6)
        pin(dq);
        if (leader) release(at.weights_empty(buffer));
        TRACED(recorder.add_queries(dq, work.part(1), false);)
        TRACED(recorder.done();)
        work.add(sums, dq, 1, buffer);
        CLOCKS_WRITE(step)
        queries.next();
        buffer ^= 1;
        if (more.value) {
            wait_for_stages<GRAD_STAGES, PIECES>(grads, at.grad_full(0));
            named_sync(Turn::DP);
            start_dp();
            wgmma_wait<1>();
        }
        named_arrive(Turn::DV);
        if (more.value) finish_dp();
    };

    wait(at.k_full(), 0);
    wait(at.v_full(), 0);
    CLOCKS_OF_LOADED(StageClocks::LOADS + 2, at.v_full(), at.v_full())
    wait_for_stages<GRAD_STAGES, PIECES>(grads, at.grad_full(0));
    start_dp();
    named_arrive(Turn::DV);
    finish_dp();
#pragma unroll 1
    for (int step = 0; step + 1 < work.steps; ++step) take_step(step, Flag<true>());
    take_step(work.steps - 1, Flag<false>());
}

extern "C" __global__ void __cluster_dims__(PAIR, 1, 1) __launch_bounds__(THREADS, 1)
    flash3_backward_wide(const __grid_constant__ TensorMap map_q, const __grid_constant__ TensorMap map_k,
                         const __grid_constant__ TensorMap map_v, const __grid_constant__ TensorMap map_grad,
                         const float* states, float* dq_sums, element* dk_out, element* dv_out, int kv_heads,
                         int group, int section, int seqlen_q, int seqlen_k, int window_left, int window_right,
                         float scale SCORING_GIVEN
#if DETERMINISTIC
                         ,
                         int* counter, int* added
#endif
                         TRACE_GIVEN CLOCKS_GIVEN) {
    let_next_launch_begin();
    extern __shared__ __align__(1024) unsigned char raw[];
    const WideShared at(((u32)__cvta_generic_to_shared(raw) + 1023) & ~1023u);
    CLOCKS_BEGIN()
    const Mask mask = Mask::of(seqlen_q, seqlen_k, window_left, window_right);
    const int tiles_q = (seqlen_q + ROWS - 1) / ROWS, rank = blockIdx.x % PAIR;
#if !DETERMINISTIC
    const Keys keys = Keys::of(blockIdx.x / PAIR, kv_heads, section, seqlen_q, seqlen_k, mask, Tables());  // of both blocks
    const int steps = keys.steps(group);
#endif
    if (threadIdx.x == 0) initialise(at);
    __syncthreads();
    cluster_sync();
#if DETERMINISTIC
    const Keys keys = draw_for_both(at, counter, rank, kv_heads, section, seqlen_q, seqlen_k, mask);
    const int steps = keys.steps(group);
#endif
    const int warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (steps && threadIdx.x == 0) load_queries(at, map_q, map_k, states, keys, group, tiles_q, rank);
        else if (steps && threadIdx.x == 32) load_grads(at, map_grad, map_v, keys, group, rank);
#if DETERMINISTIC
        else if (threadIdx.x >= 64 && threadIdx.x % 32 == 0) {
            const int warps = threadIdx.x / 32 - 2, part = GROUPS * rank + warps;
            u32 phase = 0;
            wait_for_launch_before();
            if (part < PARTS)
                give_turns_in(keys, at.may_add(warps), at.has_added(warps), phase, part, added, group, tiles_q, mask,
                              Tables());
        }
#endif
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        wait_for_launch_before();
        const int lane = threadIdx.x % 32, warp_row = threadIdx.x % 128 / 32 * 16;
        const int k0 = keys.k0 + rank * ROWS, key = k0 + warp_row + lane / 4;
        const Work work{at,   keys, mask, rank, k0, key, group, tiles_q, steps, at.weights + (warp_row + lane % 16) * 128,
                        scale * LOG2E, dq_sums
#if SOFTCAP || ALIBI
                        , scoring, scale, seqlen_k - seqlen_q
#endif
        };
        CLOCKS_OF_TILE(keys)
        TRACED(Recorder recorder(recording, rank, warp_row + lane / 4, seqlen_q, seqlen_k);)
        TRACED(recorder.begin(keys, group);)
        const long long first_key = (long long)keys.head * seqlen_k * HEAD_DIM;
        const long long first_value = NARROW_V ? (long long)keys.head * seqlen_k * HEAD_DIM_V : first_key;
        if (warpgroup == 1) {
            float dv[PIECES][PIECE_REGS];
#pragma unroll
            for (int i = 0; i < D_REGS; ++i) dv[i / PIECE_REGS][i % PIECE_REGS] = 0.0f;
            if (steps) scores_and_dv(work, dv TRACE_PASSED);
            CLOCK(10)
#pragma unroll
            for (int piece = 0; piece < PIECES; ++piece)
                store_rows<HEAD_DIM_V>(dv[piece], 1.0f, dv_out + first_value + piece * PIECE_PANELS * 64, key, seqlen_k,
                                       HEAD_DIM_V - piece * PIECE_PANELS * 64);
        } else {
            float dk[D_REGS];
#pragma unroll
            for (int i = 0; i < D_REGS; ++i) dk[i] = 0.0f;
            if (steps) weights_and_dk(work, dk TRACE_PASSED);
            CLOCK(10)
            store_rows(dk, scale, dk_out + first_key, key, seqlen_k);
        }
        CLOCK(11)
        CLOCKS_END(steps)
    }
    cluster_sync();  // the other block may still send, or arrive on a barrier here
}
