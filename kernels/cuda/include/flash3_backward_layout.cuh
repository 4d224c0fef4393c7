// How flash3's backward pass cuts registers and shared memory: two warpgroups with 64 keys each, and tiles of TILE_Q
// queries: 128 at head dim 64, 80 or 64 at 128. The 16-bit tiles lie in panels of 64 columns, 128 bytes a row, swizzled.
#pragma once
#include "flash3_backward_blocks.cuh"
#include "mask.cuh"
#include "mma.cuh"
#include "mbarrier.cuh"

#ifndef DETERMINISTIC
#define DETERMINISTIC 0
#endif
#ifndef HEAD_DIM_V
#define HEAD_DIM_V HEAD_DIM  // of V, O and dO
#endif
#if (HEAD_DIM <= 64 || HEAD_DIM <= 128 && !CAUSAL) && !WINDOW && !SPARSE && !DETERMINISTIC
#define AHEAD 1  // flash3_backward_zeros.cuh
#else
#define AHEAD 0
#endif
#if CAUSAL && !WINDOW && !SPARSE && !DETERMINISTIC
#define LATE_DRAW 1  // a tile of keys is drawn when few loads of the one before are left: they differ in length
#else
#define LATE_DRAW 0
#endif

#ifndef STAGES_OF_KEYS
#define STAGES_OF_KEYS (TILE_Q % 64 ? 1 : 2)
#endif

// V and dO of fewer columns are loaded as wide as K and Q, with zeros behind them.
constexpr bool NARROW_V = HEAD_DIM_V < HEAD_DIM;
static_assert(HEAD_DIM_V <= HEAD_DIM, "registers and shared memory are shared out by the width of Q and K");
constexpr bool WIDE = HEAD_DIM > 128;  // cut as in flash3_backward_wide_layout.cuh
// 80 rows are no multiple of the 64 that a product has: dQ is computed turned over, 64 columns by 80 rows, from dS with
// the keys of a query together, and dK takes dS from there, too, for its registers.
constexpr bool TURNED = TILE_Q % 64;
// Of the queries of a tile that see some key of a block, few enough can be the first ones that none sees its last 64 keys:
// the first 64 of a square problem's block, and some of 80.
constexpr bool PEELED = CAUSAL && (TURNED || LATE_DRAW && TILE_Q == 64);
constexpr int GROUPS = 2, BLOCK_K = GROUPS * 64, BLOCK_Q = TILE_Q;
constexpr int STAGES = 2, KEY_STAGES = STAGES_OF_KEYS, THREADS = (GROUPS + 1) * 128;
constexpr int PANELS = HEAD_DIM / 64, Q_PANELS = TURNED ? 1 : BLOCK_Q / 64, PARTS = PANELS * Q_PANELS;
constexpr u32 Q_PANEL = BLOCK_Q * 128, K_PANEL = BLOCK_K * 128;
constexpr u32 Q_BYTES = PANELS * Q_PANEL, K_BYTES = PANELS * K_PANEL;
constexpr u32 DS_BYTES = TURNED ? GROUPS * Q_PANEL : Q_PANELS * K_PANEL;
constexpr int STATE = 2 * BLOCK_Q;  // floats of a tile: -LSE in base 2 of every row, then delta
constexpr u32 STATE_BYTES = STATE * 4;
constexpr int S_REGS = BLOCK_Q / 2, D_REGS = HEAD_DIM / 2, DQ_REGS = TURNED ? S_REGS : 32;
constexpr int LATE_STEPS = 2;  // that are left to load when the next tile is drawn
constexpr int CONSUMER_REGISTERS = 240, PRODUCER_REGISTERS = 24;
static_assert(WIDE || PARTS == GROUPS, "a warpgroup computes 64 rows by 64 columns of dQ, or turned over 64 columns");
static_assert(!TURNED || !(DETERMINISTIC || SPARSE), "a block mask has no bits for 80 rows, turns at dQ no registers");
static_assert(STAGES == 2, "there are as many buffers of dS, and the phases of turns go by the stage");
constexpr int DQ_PART = DQ_REGS * 128;  // elements of them; in the sums of dQ they lie as registers do, 4 of a thread in turn

// Addresses in shared memory.
struct Shared {
    u32 k, v, q, grad, ds, states, barriers;
    explicit __device__ Shared(u32 base)
        : k(base), v(k + KEY_STAGES * K_BYTES), q(v + KEY_STAGES * K_BYTES), grad(q + STAGES * Q_BYTES), ds(grad + STAGES * Q_BYTES),
          states(ds + 2 * DS_BYTES), barriers(states + STAGES * STATE_BYTES) {}
    __device__ u32 q_full(int s) const { return barriers + 8 * s; }
    __device__ u32 q_empty(int s) const { return barriers + 8 * (STAGES + s); }
    __device__ u32 grad_full(int s) const { return barriers + 8 * (2 * STAGES + s); }
    __device__ u32 grad_empty(int s) const { return barriers + 8 * (3 * STAGES + s); }
    __device__ u32 k_full(int s) const { return barriers + 8 * (4 * STAGES + s); }
    __device__ u32 v_full(int s) const { return barriers + 8 * (4 * STAGES + KEY_STAGES + s); }
    __device__ u32 keys_empty(int s) const { return barriers + 8 * (4 * STAGES + 2 * KEY_STAGES + s); }
    __device__ u32 drawn_full(int s) const { return barriers + 8 * (4 * STAGES + 3 * KEY_STAGES + s); }
    __device__ u32 drawn(int s) const { return barriers + 8 * (4 * STAGES + 4 * KEY_STAGES + 2 * s); }  // Keys
    __device__ u32 may_draw() const { return drawn(KEY_STAGES) + (AHEAD ? 8 * KEY_STAGES : 0); }  // LATE_DRAW
};
// Numbered barriers. The first two give the first and the second warpgroup their turns; what the other one wrote to the
// buffers of dS before is there then, and what it read is done with. The third says that the tile's last dS is there;
// TURNED: before that step's products, so that the first warpgroup's last dQ does not wait for them.
enum class Barrier { FIRST_TURN = 1, SECOND_TURN, LAST_DS };
__device__ __forceinline__ Barrier turn_of(int part) { return Barrier(int(Barrier::FIRST_TURN) + part); }

using Ring = RingOf<STAGES>;
using KeyRing = RingOf<KEY_STAGES>;

// A tile of keys, and the query tiles first .. end - 1 that see one of them; under a block mask their places in a list.
struct Keys {
    int head, k0, first, end;  // head < 0: none is left

    // Tiles are numbered by sections of heads that the L2 holds together; in a section those with most queries, under a
    // causal mask, come first.
    static __device__ __forceinline__ Keys of(int tile, int heads, int section, int seqlen_q, int seqlen_k,
                                              const Mask& mask, const Tables& tables) {
        const int tiles_k = (seqlen_k + BLOCK_K - 1) / BLOCK_K;
        if (tile >= tiles_k * heads) return Keys{-1, 0, 0, 0};
        const int before = tile / (section * tiles_k) * section, rest = tile % (section * tiles_k);
        const int width = min(section, heads - before);
        if (SPARSE) {
            const int2 keys = tables.key_tile(rest / width);
            const int list = rest / width * ((seqlen_q + BLOCK_Q - 1) / BLOCK_Q);
            return Keys{before + rest % width, keys.x, list, list + keys.y};
        }
        const int k0 = rest / width * BLOCK_K;
        int first = 0, last_row = seqlen_q - 1;
        if (CAUSAL || WINDOW) first = max(0, k0 - mask.right + 1) / BLOCK_Q;
        if (WINDOW) last_row = min(last_row, min(k0 + BLOCK_K, seqlen_k) - 1 - mask.left);
        return Keys{before + rest % width, k0, first, last_row < 0 ? first : max(first, last_row / BLOCK_Q + 1)};
    }
    static __device__ __forceinline__ Keys read(u32 address) {
        Keys keys;
        asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(keys.head), "=r"(keys.k0), "=r"(keys.first), "=r"(keys.end)
                     : "r"(address)
                     : "memory");
        return keys;
    }
    __device__ __forceinline__ void write(u32 address) const {
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(head), "r"(k0), "r"(first), "r"(end)
                     : "memory");
    }
    __device__ __forceinline__ int steps(int group) const { return (end - first) * group; }
};
