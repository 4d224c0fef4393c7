// How flash3 cuts registers and shared memory: Q, the rings of K and V, then the next tile's place and the barriers.
// Needs GROUPS (of 64 query rows), BLOCK_K, HEAD_DIM, STAGES of K and V, and Q_STAGES.
//
// SPLIT: a tile's keys are cut into `splits` parts, each drawn like a tile of its own; place.x counts heads x parts.
// PACKED: the rows of a tile are the queries of all heads that share K and V, head after head, as they lie in memory.
#pragma once
#include "mbarrier.cuh"
#include "ragged.cuh"

#ifndef SPLIT
#define SPLIT 0
#endif
#ifndef PACKED
#define PACKED 0
#endif
#ifndef CLOCKS
#define CLOCKS 0
#endif

#ifndef HEAD_DIM_V
#define HEAD_DIM_V HEAD_DIM  // of V and O
#endif
#ifndef OVERLAP
#define OVERLAP 1
#endif
#ifndef SCHEDULE
#define SCHEDULE 1  // 0: a block a tile; 1: blocks stay and draw tiles from a counter
#endif
#ifndef EARLY
#define EARLY 0  // 1: a block's first tile is asked for before its warps have met; if its one tile, Q by warpgroups
#endif
#ifndef HALVES
#define HALVES 0  // 1: of the first key tile of a warpgroup only the half that its rows see is computed, where that is all
#endif
#ifndef RESIDENTS
#define RESIDENTS 1  // blocks of an SM: of 2 one starts while the other one works
#endif
static_assert(RESIDENTS == 1 || GROUPS == 1, "two blocks of one warpgroup of consumers have the registers");

constexpr int BLOCK_Q = GROUPS * 64;
constexpr bool ONE_TILE = EARLY && !SCHEDULE;
constexpr int Q_PARTS = ONE_TILE ? GROUPS : 1;
static_assert(Q_STAGES * (Q_PARTS + 1) <= 4, "room for Q's barriers");
constexpr int THREADS = (GROUPS + 1) * 128;
constexpr int PANELS = (HEAD_DIM + 63) / 64;  // 64 columns: 128 bytes, the widest swizzle
constexpr u32 Q_PANEL = BLOCK_Q * 128, K_PANEL = BLOCK_K * 128;
constexpr u32 Q_BYTES = PANELS * Q_PANEL, K_BYTES = PANELS * K_PANEL;
constexpr int V_PANELS = (HEAD_DIM_V + 63) / 64;
constexpr u32 V_BYTES = V_PANELS * K_PANEL;
constexpr bool MOVES_REGISTERS = GROUPS > 1 || RESIDENTS > 1;  // two warpgroups have 255 each anyway
// In steps of 8 for each of a warpgroup's 128 threads. A launch is given as many for each thread as its blocks of an SM
// may have, in steps of 8, too: of the SM's 65,536 3 x 168 of 3 warpgroups, 4 x 128 of 4, 2 x 128 of 2 blocks of 2. Where
// warpgroups ask for more together than that, those that ask for the last of them wait for ever.
constexpr bool WIDE_PRODUCER = PAGE_SIZE || CLOCKS;  // it finds pages, or reads clocks
constexpr int CONSUMER_REGISTERS = GROUPS == 3 ? 160 : GROUPS == 1 ? 224 : WIDE_PRODUCER ? 232 : 240;
constexpr int PRODUCER_REGISTERS = GROUPS != 2 ? 32 : WIDE_PRODUCER ? 40 : 24;
constexpr int LAUNCHED_REGISTERS = 65536 / RESIDENTS / THREADS / 8 * 8;
static_assert(!MOVES_REGISTERS || GROUPS * CONSUMER_REGISTERS + PRODUCER_REGISTERS <= (GROUPS + 1) * LAUNCHED_REGISTERS);
constexpr int S_REGS = BLOCK_K / 2, O_REGS = HEAD_DIM_V / 2;
// A tile's sums, and the next tile's place, are found under its last product; with 176 keys the registers for that cost 1 %.
constexpr bool TOTALS_UNDER_PV = OVERLAP && !SPLIT && BLOCK_K < 176;
constexpr int HALF_KEYS = 64;  // of 128: all that the upper warpgroup of a causal tile sees of its last keys
#ifndef BOXED
#define BOXED 0  // 1: O leaves by TMA, flash3_store.cuh
#endif
static_assert(!HALVES || SCHEDULE && BLOCK_K == 128, "where it was measured");
#ifndef LIFT
#define LIFT 0  // 1: tiles begin before a head's first row, so that the diagonal lies in key tiles as that of a square does
#endif
static_assert(!LIFT || HALVES && CAUSAL && BOXED && !PACKED, "where it was measured");
#if TRACE || CLOCKS || LIVE
constexpr bool LIFTED = false;  // what such builds write counts tiles from the first row
#else
constexpr bool LIFTED = LIFT;
#endif

// Addresses in shared memory.
struct Shared {
    u32 q, k, v, barriers;
    __device__ u32 next_tile() const { return barriers; }
    __device__ u32 tile_full() const { return barriers + 8; }
    __device__ u32 tile_empty() const { return barriers + 16; }
    __device__ u32 q_full(int s, int part = 0) const { return barriers + 24 + 8 * (s * Q_PARTS + part); }
    __device__ u32 q_empty(int s) const { return barriers + 24 + 8 * (Q_STAGES * Q_PARTS + s); }
    __device__ u32 k_full(int s) const { return barriers + 56 + 8 * s; }
    __device__ u32 k_empty(int s) const { return barriers + 56 + 8 * (STAGES + s); }
    __device__ u32 v_full(int s) const { return barriers + 56 + 8 * (2 * STAGES + s); }
    __device__ u32 v_empty(int s) const { return barriers + 56 + 8 * (3 * STAGES + s); }
};

// By one thread, before any other touches them. `readers`: arrivals that say that a tile has been read.
__device__ __forceinline__ void initialise(const Shared& at, int readers) {
    for (int s = 0; s < Q_STAGES; ++s) {
        for (int part = 0; part < Q_PARTS; ++part) barrier_init(at.q_full(s, part), 1);
        barrier_init(at.q_empty(s), readers);
    }
    barrier_init(at.tile_full(), 1);
    barrier_init(at.tile_empty(), readers);
    for (int s = 0; s < STAGES; ++s) {
        barrier_init(at.k_full(s), 1);
        barrier_init(at.v_full(s), 1);
        barrier_init(at.k_empty(s), readers);
        barrier_init(at.v_empty(s), readers);
    }
    barriers_are_initialised();
}
// The place of the block's next tile, from the producer to the consumers.
__device__ __forceinline__ void put_place(const Shared& at, int2 place) {
    asm volatile("st.shared.v2.b32 [%0], {%1, %2};" ::"r"(at.next_tile()), "r"(place.x), "r"(place.y) : "memory");
}
__device__ __forceinline__ void take_place(int& x, int& y, const Shared& at) {
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at.next_tile()) : "memory");
}

// Key tiles begin .. last become those of one part of them; of fewer tiles than parts, some parts have none.
__device__ __forceinline__ void take_part(int& begin, int& last, int part, int splits) {
    const int count = last - begin + 1;
    last = begin + count * (part + 1) / splits - 1;
    begin += count * part / splits;
}

// Numbered barriers: turns of the first warpgroup at the tensor cores, and what it alone waits for when it has cleared
// padding (flash3_lengths.cuh); the others' follow.
enum class Barrier { TURN = 1, CLEARED = 8 };
__device__ __forceinline__ Barrier turn_of(int group) { return Barrier(int(Barrier::TURN) + group); }
__device__ __forceinline__ Barrier cleared_by(int group) { return Barrier(int(Barrier::CLEARED) + group); }

using Ring = RingOf<STAGES>;
using QRing = RingOf<Q_STAGES>;
