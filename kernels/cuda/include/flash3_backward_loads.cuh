// What the warpgroup that only copies does in flash3's backward pass: one thread draws tiles of keys, another loads them
// and the tiles of queries that see them. Its other two warps zero sums (flash3_backward_zeros.cuh) or give turns.
#pragma once
#include "flash3_backward_clocks.cuh"
#include "flash3_backward_turns.cuh"
#include "flash3_backward_zeros.cuh"
#include "launch_order.cuh"
#include "tma.cuh"
#include "tma_bulk.cuh"

// By one thread, before any other touches them.
__device__ __forceinline__ void initialise(const Shared& at) {
    for (int s = 0; s < STAGES; ++s) {
        barrier_init(at.q_full(s), 2);  // Q, and the state of its rows
        barrier_init(at.grad_full(s), 1);
        barrier_init(at.q_empty(s), GROUPS * 4);
        barrier_init(at.grad_empty(s), GROUPS * 4);
    }
    for (int s = 0; s < KEY_STAGES; ++s) {
        barrier_init(at.k_full(s), 1);
        barrier_init(at.v_full(s), 1);
        barrier_init(at.drawn_full(s), 1);
        barrier_init(at.keys_empty(s), GROUPS * 4 + 1 + (DETERMINISTIC ? GROUPS : 0) + (AHEAD ? ZERO_WARPS : 0));
    }
    if (DETERMINISTIC) initialise_turns(at);
    if (AHEAD) initialise_zeros(at);
    if (LATE_DRAW) barrier_init(at.may_draw(), 1);
    barriers_are_initialised();
}
// The loads of all tiles of keys that are drawn, and of the tiles of queries that see them.
__device__ __forceinline__ void load_tiles(const Shared& at, const TensorMap& map_q, const TensorMap& map_k,
                                           const TensorMap& map_v, const TensorMap& map_grad, const float* states,
                                           int group, int tiles_q, const Tables& tables) {
    Ring ring;
    for (KeyRing key_ring;; key_ring.next()) {
        const int ks = key_ring.stage;
        wait(at.drawn_full(ks), key_ring.phase);
        const Keys keys = Keys::read(at.drawn(ks));
        // No query sees these keys: nothing is loaded, but the phases go on. Nobody waits for the end of this one; were
        // the stage empty before it, a warpgroup could come to wait for the next tile's K and V and take it for passed.
        if ((WINDOW || SPARSE) && !keys.steps(group)) {
            arrive(at.k_full(ks));
            arrive(at.v_full(ks));
        }
        arrive(at.keys_empty(ks));
        if (keys.head < 0) break;
        int head = keys.head * group, place = keys.first;
        const int steps = keys.steps(group);
        for (int step = 0; step < steps; ++step) {
            const int s = ring.stage, tile = tile_at(place, keys, tables);
            if (LATE_DRAW && (step + LATE_STEPS == steps || step == 0 && steps < LATE_STEPS)) arrive(at.may_draw());
            if (step == 0) {
                CLOCK_OF_LOAD(at.k_full(ks), 0)
                load_tile<PANELS>(at.k + ks * K_BYTES, K_PANEL, map_k, at.k_full(ks), keys.k0, keys.head);
                CLOCK_OF_LOAD(at.k_full(ks), 1)
                wait_for_launch_before();  // for the rows' states: at the first tile, if at all
            }
            wait(at.q_empty(s), ring.phase ^ 1);
            CLOCK_OF_LOAD(at.q_full(s), 0)
            load_bytes(at.states + s * STATE_BYTES, states + ((long long)head * tiles_q + tile) * STATE,
                       STATE_BYTES, at.q_full(s));
            load_tile<PANELS>(at.q + s * Q_BYTES, Q_PANEL, map_q, at.q_full(s), tile * BLOCK_Q, head);
            CLOCK_OF_LOAD(at.q_full(s), 1)
            if (step == 0) {
                if (AHEAD) wait(sums_are_zero(at, ks), key_ring.phase);
                CLOCK_OF_LOAD(at.v_full(ks), 0)
                load_tile<PANELS>(at.v + ks * K_BYTES, K_PANEL, map_v, at.v_full(ks), keys.k0, keys.head);
                CLOCK_OF_LOAD(at.v_full(ks), 1)
            }
            wait(at.grad_empty(s), ring.phase ^ 1);
            CLOCK_OF_LOAD(at.grad_full(s), 0)
            load_tile<PANELS>(at.grad + s * Q_BYTES, Q_PANEL, map_grad, at.grad_full(s), tile * BLOCK_Q, head);
            CLOCK_OF_LOAD(at.grad_full(s), 1)
            ring.next();
            // As `advance` does: a call of it here, even inlined, has the compiler take other registers for the loop.
            if (BY_PLACE) {
                if (++head == (keys.head + 1) * group) head -= group, ++place;
            } else if (++place == keys.end) {
                place = keys.first, ++head;
            }
        }
    }
}
// Draws tiles of keys: the block's own number first, then from the counter, as many ahead of the warpgroups as there
// are stages of keys, at most. LATE_DRAW: one, when few of a tile's loads are left, so that short tiles and long ones end
// together.
// DETERMINISTIC draws the first one, too, as blocks need not start in the order of their numbers; where there is a block
// for each, no other.
__device__ __forceinline__ void draw_keys(const Shared& at, int* counter, int kv_heads, int section, int seqlen_q,
                                          int seqlen_k, const Mask& mask, const Tables& tables) {
    Keys keys{};
    const int tiles = (seqlen_k + BLOCK_K - 1) / BLOCK_K * kv_heads;
    if (DETERMINISTIC) wait_for_launch_before();
    int drawn = DETERMINISTIC ? atomicAdd(counter, 1) : blockIdx.x;
    for (KeyRing key_ring; keys.head >= 0; key_ring.next()) {
        const int ks = key_ring.stage;
        wait(at.keys_empty(ks), key_ring.phase ^ 1);
        keys = Keys::of(drawn, kv_heads, section, seqlen_q, seqlen_k, mask, tables);
        keys.write(at.drawn(ks));
        arrive(at.drawn_full(ks));
        if (!DETERMINISTIC) wait_for_launch_before();  // here, so that the first K is under way
        if (LATE_DRAW) {
            if (keys.head < 0) break;
            wait(at.may_draw(), KEY_STAGES == 2 ? ks : key_ring.phase);
        }
        if (DETERMINISTIC) drawn = gridDim.x == tiles ? tiles : atomicAdd(counter, 1);
        else drawn = gridDim.x + atomicAdd(counter, 1);
    }
}
