// DETERMINISTIC: in flash3's backward pass tiles of keys add to the sums of a tile of queries one after the other, in the
// order in which they are drawn. For each part of a tile's sums a counter in memory says how many have added.
//
// Nobody waits for ever: a tile waits only for such that were drawn before it, whose blocks therefore run, and of the
// unfinished ones the first drawn waits for none. A thread beside those that load watches the counters of a warpgroup
// and moves them on, so that neither the polls nor the wait for additions to arrive holds the products back.
#pragma once
#include "flash3_backward_walk.cuh"
#include "launch_order.cuh"

// What a launch is given of them: else no byte.
template <bool deterministic>
struct TurnsIf {
    __device__ __forceinline__ int* counters() const { return nullptr; }
};
template <>
struct TurnsIf<true> {
    int* added;  // of every tile of queries, for each part of its sums: tiles of keys that have added
    __device__ __forceinline__ int* counters() const { return added; }
};
using Turns = TurnsIf<DETERMINISTIC>;

// Barriers of a warpgroup, behind the places for keys: it may add, it has added.
__device__ __forceinline__ u32 may_add(const Shared& at, int part) { return at.drawn(KEY_STAGES) + 8 * part; }
__device__ __forceinline__ u32 has_added(const Shared& at, int part) { return may_add(at, GROUPS + part); }

__device__ __forceinline__ void initialise_turns(const Shared& at) {
    for (int part = 0; part < GROUPS; ++part) {
        barrier_init(may_add(at, part), 1);
        barrier_init(has_added(at, part), 4);
    }
}
// By each warp, behind its additions.
__device__ __forceinline__ void end_turn(const Shared& at, int part, bool leader) {
    __syncwarp();
    if (leader) arrive(has_added(at, part));
}

__device__ __forceinline__ int load_acquire(const int* address) {
    int x;
    asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(x) : "l"(address) : "memory");
    return x;
}
__device__ __forceinline__ void store_release(int* address, int x) {
    asm volatile("st.release.gpu.global.s32 [%0], %1;" ::"l"(address), "r"(x) : "memory");
}
__device__ __forceinline__ void wait_for(const int* counter, int count) {
    if constexpr (MAX_POLLS > 0) {
        for (int polls = 0; load_acquire(counter) != count; ++polls)
            if (polls == MAX_POLLS) asm volatile("trap;");
    } else {
        while (load_acquire(counter) != count) {}
    }
}

// The turns of a part of dQ in a tile of keys, whose warpgroup waits for one barrier and arrives on the other. `added`: of
// every tile of queries, for each part.
__device__ __forceinline__ void give_turns_in(const Keys& keys, u32 may_add, u32 has_added, u32& phase, int part, int* added,
                                              int group, int tiles_q, const Mask& mask, const Tables& tables) {
    const int steps = keys.steps(group);
    int head = keys.head * group, place = keys.first;
    for (int step = 0; step < steps; ++step) {
        const int tile = tile_at(place, keys, tables);
        const int before = SPARSE ? tables.before(place) : keys.k0 / BLOCK_K - mask.begin(tile * BLOCK_Q) / BLOCK_K;
        int* const counter = added + ((long long)head * tiles_q + tile) * PARTS + part;
        wait_for(counter, before);
        arrive(may_add);
        wait(has_added, phase);
        store_release(counter, before + 1);
        phase ^= 1;
        advance(head, place, keys, group);
    }
}
// Those of a warpgroup in all tiles of keys that are drawn.
__device__ __forceinline__ void give_turns(const Shared& at, int part, int* added, int group, int tiles_q,
                                           const Mask& mask, const Tables& tables) {
    u32 phase = 0;
    wait_for_launch_before();
    for (KeyRing key_ring;; key_ring.next()) {
        const int ks = key_ring.stage;
        wait(at.drawn_full(ks), key_ring.phase);
        const Keys keys = Keys::read(at.drawn(ks));
        arrive(at.keys_empty(ks));
        if (keys.head < 0) break;
        give_turns_in(keys, may_add(at, part), has_added(at, part), phase, part, added, group, tiles_q, mask, tables);
    }
}
