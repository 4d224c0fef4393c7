// Who zeroes the sums of dQ of flash3's backward pass. AHEAD: the launch before does for the first section of heads
// alone, and while tiles of keys of a section are worked on, two warps with nothing else to do zero the next one's: so
// late that the L2 still holds these sums when they are added to. Otherwise that launch zeroes all of them.
//
// A section's sums are cut into shares, one for each of these warps in each tile of the section before. Who sees such a
// tile takes one; who sees a tile of the section itself takes all that are left, if any are, and waits until the sums
// are zero; then the tile's V is loaded. Nobody waits for ever, whatever the order in which blocks start: what a tile
// waits for was taken by warps that run, and these zero it having waited for the launch before alone.
#pragma once
#include "flash3_backward_turns.cuh"

constexpr int ZERO_WARPS = 2, FIRST_ZERO_THREAD = 64;  // of the warpgroup that copies
constexpr int TILE_LINES = BLOCK_Q * HEAD_DIM / 128;   // of a tile of sums: what a warp zeroes at a time

// A barrier behind the places for keys: the sums of the tile's heads are zero.
__device__ __forceinline__ u32 sums_are_zero(const Shared& at, int s) { return at.drawn(KEY_STAGES) + 8 * s; }

__device__ __forceinline__ void initialise_zeros(const Shared& at) {
    for (int s = 0; s < KEY_STAGES; ++s) barrier_init(sums_are_zero(at, s), ZERO_WARPS);
}

// What a launch is given of them: else no byte.
template <bool ahead>
struct ZeroCountersIf {
    __device__ __forceinline__ int* zero_counters() const { return nullptr; }
};
template <>
struct ZeroCountersIf<true> {
    int* zeroed;  // of sections of heads, two each: see Zeros
    __device__ __forceinline__ int* zero_counters() const { return zeroed; }
};
using ZeroCounters = ZeroCountersIf<AHEAD>;

// Sections of `together` K/V heads, all but the first of which are zeroed here. Counters of each: shares taken, zeroed.
struct Zeros {
    int* counters;
    int shares, together, kv_heads, group, tiles_q;

    // A share of a section, by a warp; whether there was one left.
    __device__ __forceinline__ bool zero_share(float* dq_sums, int section) const {
        const int lane = threadIdx.x % 32;
        int share = 0;
        if (lane == 0) share = atomicAdd(counters + section * 2, 1);
        share = __shfl_sync(~0u, share, 0);
        if (share >= shares) return false;
        const int first = section * together, head_lines = group * tiles_q * TILE_LINES;
        const int lines = min(together, kv_heads - first) * head_lines, each = (lines + shares - 1) / shares;
        float4* to = reinterpret_cast<float4*>(dq_sums) + ((long long)first * head_lines + share * each) * 32 + lane;
#pragma unroll 1
        for (int left = min(each, lines - share * each); left > 0; --left, to += 32)
            *to = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncwarp();
        if (lane == 0)
            asm volatile("red.release.gpu.global.add.s32 [%0], %1;" ::"l"(counters + section * 2 + 1), "r"(1)
                         : "memory");
        return true;
    }
    // Until a section's sums are zero. A warp's stores come, by __syncwarp, before its first lane's count, which releases
    // them; the last poll acquires all counts; and arrivals on barriers pass that on: of this lane to the thread that
    // loads V, and of that one, as it announces V's bytes only then, to the warpgroups, which wait for V before they add.
    __device__ __forceinline__ void wait_until_zero(float* dq_sums, int section) const {
        const bool leader = threadIdx.x % 32 == 0;
        const int* const zeroed = counters + section * 2 + 1;
        int left = 0;
        if (leader) left = load_acquire(zeroed) != shares;
        if (!__shfl_sync(~0u, left, 0)) return;
        while (zero_share(dq_sums, section)) {}
        if (leader) wait_for(zeroed, shares);
        __syncwarp();
    }
};
// By each of these warps, for all tiles of keys that are drawn.
__device__ __forceinline__ void zero_ahead(const Shared& at, const Zeros& zeros, float* dq_sums) {
    wait_for_launch_before();
    const bool leader = threadIdx.x % 32 == 0;
    int known = 0;  // sections up to this one are zero
    for (KeyRing key_ring;; key_ring.next()) {
        const int ks = key_ring.stage;
        wait(at.drawn_full(ks), key_ring.phase);
        const int head = Keys::read(at.drawn(ks)).head;
        __syncwarp();
        if (leader) arrive(at.keys_empty(ks));
        if (head < 0) break;
        const int section = head / zeros.together;
        if (section > known) zeros.wait_until_zero(dq_sums, known = section);
        if (leader) arrive(sums_are_zero(at, ks));
        if ((section + 1) * zeros.together < zeros.kv_heads) zeros.zero_share(dq_sums, section + 1);
    }
}
