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

#ifndef EARLY
#define EARLY 0  // 1: a block's one tile is asked for before its warps have met, Q's rows by warpgroups
#endif
#ifndef RESIDENTS
#define RESIDENTS 1  // blocks of an SM: of 2 one starts while the other one works
#endif
static_assert(RESIDENTS == 1 || GROUPS == 1, "two blocks of one warpgroup of consumers have the registers");

constexpr int BLOCK_Q = GROUPS * 64;
constexpr int Q_PARTS = EARLY ? GROUPS : 1;
static_assert(Q_STAGES * (Q_PARTS + 1) <= 4, "room for Q's barriers");
constexpr int THREADS = (GROUPS + 1) * 128;
constexpr int PANELS = (HEAD_DIM + 63) / 64;  // 64 columns: 128 bytes, the widest swizzle
constexpr u32 Q_PANEL = BLOCK_Q * 128, K_PANEL = BLOCK_K * 128;
constexpr u32 Q_BYTES = PANELS * Q_PANEL, K_BYTES = PANELS * K_PANEL;
constexpr bool MOVES_REGISTERS = GROUPS > 1 || RESIDENTS > 1;  // two warpgroups have 255 each anyway
// In steps of 8 for each of a warpgroup's 128 threads; a multiprocessor has 65,536: 128 (3 x 160 + 32) are all of them,
// 128 (2 x 240 + 24) all but 1,024, which a producer that finds pages takes; so are 2 x 128 (224 + 32). One that reads
// clocks has 40, of its consumers'.
constexpr int CONSUMER_REGISTERS = GROUPS == 3 ? 160 : GROUPS == 1 ? 224 : CLOCKS ? 232 : 240;
constexpr int PRODUCER_REGISTERS = GROUPS != 2 || PAGE_SIZE ? 32 : CLOCKS ? 40 : 24;
constexpr int S_REGS = BLOCK_K / 2, O_REGS = HEAD_DIM / 2;

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
