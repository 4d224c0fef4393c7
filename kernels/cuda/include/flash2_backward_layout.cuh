// How flash2's backward pass cuts the work of a block, and where its tiles lie in shared memory.
//
// KEY_WARPS groups of COLUMN_WARPS warps; a group owns SUBTILES x 16 keys. QUERIES pass by at a time. For S and dP the
// warps of a group share the queries of a tile, for dK and dV the columns.
#pragma once
#include "backward.cuh"

#ifndef HEAD_DIM_V
#define HEAD_DIM_V HEAD_DIM  // of V, O and dO
#endif
constexpr int WARPS = KEY_WARPS * COLUMN_WARPS, THREADS = WARPS * 32;
constexpr int GROUP_KEYS = SUBTILES * 16, KEYS = KEY_WARPS * GROUP_KEYS;
constexpr int WIDTH = round_up(HEAD_DIM, 16), V_WIDTH = round_up(HEAD_DIM_V, 16);
constexpr bool OWN_V = HEAD_DIM_V != HEAD_DIM;
constexpr int SHARES = COLUMN_WARPS < QUERIES / 16 ? COLUMN_WARPS : QUERIES / 16;  // warps of a group that have queries
constexpr int SHARE = QUERIES / SHARES;
constexpr int AT_ONCE = SHARE * SUBTILES > 64 ? 64 / SUBTILES : SHARE;  // of those, as registers go
constexpr int PART = round_up((WIDTH + COLUMN_WARPS - 1) / COLUMN_WARPS, 16);  // columns of dK of a warp
constexpr int V_PART = round_up((V_WIDTH + COLUMN_WARPS - 1) / COLUMN_WARPS, 16);  // of dV
constexpr bool SHARED_P = COLUMN_WARPS > 1, SHARED_DS = SHARED_P || !DETERMINISTIC;
static_assert(SHARE % AT_ONCE == 0 && AT_ONCE % 16 == 0, "whole fragments");

using KeyTile = Tile<KEYS, WIDTH, THREADS>;
using ValueTile = Tile<KEYS, V_WIDTH, THREADS>;
using QueryTile = Tile<QUERIES, WIDTH, THREADS>;
using GradTile = Tile<QUERIES, V_WIDTH, THREADS>;  // dO
using Weights = Tile<KEYS, QUERIES, THREADS>;     // P^T or dS^T
using Fragments = float[SUBTILES][PART / 8][4];   // a warp's dK
using ValueFragments = float[SUBTILES][V_PART / 8][4];
constexpr int STAGE = QueryTile::BYTES + GradTile::BYTES;  // Q and, behind it, dO

// A block's shared memory, by address. What the launch asks for follows from it: shared_bytes in flash2_backward.py.
struct Shared {
    unsigned char* const base;
    __device__ __forceinline__ unsigned k() const { return shared_address(base); }
    __device__ __forceinline__ unsigned v() const { return k() + KeyTile::BYTES; }
    __device__ __forceinline__ unsigned q(int stage) const { return v() + ValueTile::BYTES + stage * STAGE; }
    __device__ __forceinline__ unsigned char* ds() const { return base + KeyTile::BYTES + ValueTile::BYTES + 2 * STAGE; }
    __device__ __forceinline__ unsigned char* p() const { return ds() + Weights::BYTES; }
    __device__ __forceinline__ RowState* states(int stage) const {
        return reinterpret_cast<RowState*>(ds() + (SHARED_P ? 2 : 1) * Weights::BYTES) + stage * QUERIES;
    }
};

// Which keys and columns a warp has.
struct Place {
    int lane, first_key, part;
    static __device__ __forceinline__ Place of() {
        const int warp = threadIdx.x / 32;
        return Place{int(threadIdx.x % 32), warp / COLUMN_WARPS * GROUP_KEYS, warp % COLUMN_WARPS};
    }
    // Whether it has queries for S and dP.
    __device__ __forceinline__ bool computes() const { return SHARES == COLUMN_WARPS || part < SHARES; }
    __device__ __forceinline__ int first_column() const { return part * (PART / 16); }  // in units of 16
    __device__ __forceinline__ int first_value_column() const { return part * (V_PART / 16); }
};

// States of rows and sums of dQ lie in whole fragments of 16 queries a head.
__device__ __forceinline__ int padded(int seqlen_q) { return round_up(seqlen_q, 16); }
