// How flash3's backward pass cuts shared memory for wide heads: a block has 64 keys, and pairs of blocks take the same
// tiles of 64 queries. Q comes in a ring of tiles, dO, which is needed for a shorter time, in a ring of pieces of them.
#pragma once
#include "flash3_backward_layout.cuh"

constexpr int PAIR = 2, ROWS = BLOCK_K / PAIR;  // rows of every tile: keys of a block, or queries
constexpr int Q_STAGES = PANELS == 4 ? 2 : 3, PIECES = PANELS == 4 ? 2 : 1, GRAD_STAGES = PANELS == 4 ? 3 : 2;
constexpr int PIECE_PANELS = PANELS / PIECES, PIECE_REGS = D_REGS / PIECES;
constexpr u32 PANEL_BYTES = ROWS * 128, TILE_BYTES = PANELS * PANEL_BYTES, PIECE_BYTES = PIECE_PANELS * PANEL_BYTES;
constexpr int SHARE = ROWS / PAIR;  // rows of a tile of queries that each block loads for both
constexpr u32 SHARE_BYTES = SHARE * 128;
static_assert(ROWS == BLOCK_Q && ROWS == 64, "tiles are square, but for their columns");

// Addresses in shared memory. pair_k: the columns of the other block's K that this one multiplies for dQ. weights: P and
// then dS, twice; received: dS of the other block, twice.
struct WideShared {
    u32 k, pair_k, v, q, grad, weights, received, states, barriers;
    explicit __device__ WideShared(u32 base)
        : k(base), pair_k(k + TILE_BYTES), v(pair_k + GROUPS * PANEL_BYTES), q(v + TILE_BYTES),
          grad(q + Q_STAGES * TILE_BYTES), weights(grad + GRAD_STAGES * PIECE_BYTES),
          received(weights + 2 * PANEL_BYTES), states(received + 2 * PANEL_BYTES),
          barriers(states + Q_STAGES * STATE_BYTES) {}
    __device__ u32 q_full(int s) const { return barriers + 8 * s; }
    __device__ u32 q_empty(int s) const { return barriers + 8 * (Q_STAGES + s); }
    __device__ u32 grad_full(int s) const { return barriers + 8 * (2 * Q_STAGES + s); }
    __device__ u32 grad_empty(int s) const { return barriers + 8 * (2 * Q_STAGES + GRAD_STAGES + s); }
    __device__ u32 k_full() const { return barriers + 8 * (2 * Q_STAGES + 2 * GRAD_STAGES); }
    __device__ u32 v_full() const { return k_full() + 8; }
    __device__ u32 received_full(int buffer) const { return k_full() + 8 * (2 + buffer); }
    __device__ u32 weights_empty(int buffer) const { return k_full() + 8 * (4 + buffer); }  // here and where it was sent
    // DETERMINISTIC: a warpgroup may add to dQ, it has added; the pair's tile of keys is drawn, and where it is.
    __device__ u32 may_add(int group) const { return k_full() + 8 * (6 + group); }
    __device__ u32 has_added(int group) const { return k_full() + 8 * (8 + group); }
    __device__ u32 drawn_full() const { return k_full() + 8 * 10; }
    __device__ u32 drawn() const { return k_full() + 8 * 12; }  // Keys
};
using QueryRing = RingOf<Q_STAGES>;
using GradRing = RingOf<GRAD_STAGES>;
