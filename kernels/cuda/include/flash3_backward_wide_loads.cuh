// What the warpgroup that only copies does in flash3's backward pass for wide heads: one thread loads K and Q, another V
// and dO, so that neither ring waits for the other. Of a tile of queries each block of a pair loads half the rows, for
// both: a stage is empty once both have released it.
#pragma once
#include "cluster.cuh"
#include "flash3_backward_turns.cuh"
#include "flash3_backward_wide_clocks.cuh"
#include "flash3_backward_wide_layout.cuh"
#include "launch_order.cuh"
#include "tma_bulk.cuh"

// By one thread, before any other touches them.
__device__ __forceinline__ void initialise(const WideShared& at) {
    for (int s = 0; s < Q_STAGES; ++s) {
        barrier_init(at.q_full(s), 1);
        barrier_init(at.q_empty(s), PAIR * GROUPS * 4);
    }
    for (int s = 0; s < GRAD_STAGES; ++s) {
        barrier_init(at.grad_full(s), 1);
        barrier_init(at.grad_empty(s), PAIR * GROUPS * 4);
    }
    for (int buffer = 0; buffer < 2; ++buffer) {
        barrier_init(at.received_full(buffer), 1);
        barrier_init(at.weights_empty(buffer), (GROUPS + 1) * 4);  // the other block's warps, and those that add to dK
    }
    barrier_init(at.k_full(), 1);
    barrier_init(at.v_full(), 1);
    if (DETERMINISTIC) {
        barrier_init(at.drawn_full(), 1);
        for (int group = 0; group < GROUPS; ++group) {
            barrier_init(at.may_add(group), 1);
            barrier_init(at.has_added(group), 4);
        }
    }
    barriers_are_initialised();
}
// DETERMINISTIC: the first block of a pair draws the tile of keys of both, as pairs need not start in the order of their
// numbers. By all threads, behind a `cluster_sync`.
__device__ __forceinline__ Keys draw_for_both(const WideShared& at, int* counter, int rank, int kv_heads, int section,
                                              int seqlen_q, int seqlen_k, const Mask& mask) {
    if (threadIdx.x == 0) {
        if (rank) {
            expect(at.drawn_full(), sizeof(Keys));
        } else {
            wait_for_launch_before();
            Keys::of(atomicAdd(counter, 1), kv_heads, section, seqlen_q, seqlen_k, mask, Tables()).write(at.drawn());
            publish_stores();
            send_bytes(at.drawn(), at.drawn(), sizeof(Keys), at.drawn_full(), 1);
            arrive(at.drawn_full());
        }
    }
    wait(at.drawn_full(), 0);
    const Keys keys = Keys::read(at.drawn());
    return Keys{__shfl_sync(~0u, keys.head, 0), __shfl_sync(~0u, keys.k0, 0), __shfl_sync(~0u, keys.first, 0),
                __shfl_sync(~0u, keys.end, 0)};
}
// By one thread of a warp that has read a stage.
__device__ __forceinline__ void release(u32 empty) {
    for (int block = 0; block < PAIR; ++block) arrive_in(empty, block);
}
// So many panels of this block's share of a tile, from a column on, to both blocks.
template <int panels>
__device__ __forceinline__ void load_share(u32 to, const TensorMap& map, u32 bar, int column, int row, int head, int rank) {
#pragma unroll
    for (int p = 0; p < panels; ++p)
        load_box_to_all(to + p * PANEL_BYTES + rank * SHARE_BYTES, map, bar, column + 64 * p, row + rank * SHARE, head,
                        (1 << PAIR) - 1);
}
__device__ __forceinline__ void load_queries(const WideShared& at, const TensorMap& map_q, const TensorMap& map_k,
                                             const float* states, const Keys& keys, int group, int tiles_q, int rank) {
    CLOCK_OF_LOAD(at.k_full(), 0)
    expect(at.k_full(), TILE_BYTES + GROUPS * PANEL_BYTES);
    for (int p = 0; p < PANELS; ++p)
        load_box(at.k + p * PANEL_BYTES, map_k, at.k_full(), 64 * p, keys.k0 + rank * ROWS, keys.head);
    for (int p = 0; p < GROUPS; ++p)
        load_box(at.pair_k + p * PANEL_BYTES, map_k, at.k_full(), 64 * (GROUPS * rank + p), keys.k0 + (rank ^ 1) * ROWS,
                 keys.head);
    CLOCK_OF_LOAD(at.k_full(), 1)
    wait_for_launch_before();  // for the rows' states; all else that is loaded was there before
    QueryRing ring;
    int head = keys.head * group, place = keys.first;
    for (int left = keys.steps(group); left; --left, ring.next()) {
        const int s = ring.stage, tile = tile_at(place, keys, Tables());
        wait(at.q_empty(s), ring.phase ^ 1);
        CLOCK_OF_LOAD(at.q_full(s), 0)
        expect(at.q_full(s), TILE_BYTES + STATE_BYTES);
        load_share<PANELS>(at.q + s * TILE_BYTES, map_q, at.q_full(s), 0, tile * ROWS, head, rank);
        copy_bytes(at.states + s * STATE_BYTES, states + ((long long)head * tiles_q + tile) * STATE, STATE_BYTES,
                   at.q_full(s));
        CLOCK_OF_LOAD(at.q_full(s), 1)
        advance(head, place, keys, group);
    }
}
__device__ __forceinline__ void load_grads(const WideShared& at, const TensorMap& map_grad, const TensorMap& map_v,
                                           const Keys& keys, int group, int rank) {
    CLOCK_OF_LOAD(at.v_full(), 0)
    load_tile<PANELS>(at.v, PANEL_BYTES, map_v, at.v_full(), keys.k0 + rank * ROWS, keys.head);
    CLOCK_OF_LOAD(at.v_full(), 1)
    GradRing ring;
    int head = keys.head * group, place = keys.first;
    for (int left = keys.steps(group); left; --left) {
#pragma unroll
        for (int piece = 0; piece < PIECES; ++piece, ring.next()) {
            const int s = ring.stage;
            wait(at.grad_empty(s), ring.phase ^ 1);
            CLOCK_OF_LOAD(at.grad_full(s), 0)
            expect(at.grad_full(s), PIECE_BYTES);
            load_share<PIECE_PANELS>(at.grad + s * PIECE_BYTES, map_grad, at.grad_full(s), piece * PIECE_PANELS * 64,
                                     tile_at(place, keys, Tables()) * ROWS, head, rank);
            CLOCK_OF_LOAD(at.grad_full(s), 1)
        }
        advance(head, place, keys, group);
    }
}
