// In which order flash3's backward pass takes the tiles of queries that see a tile of keys, in the group's heads, and
// where the sums of their dQ are.
//
// As a rule head by head, tiles rising, so that the sums' address only moves on. DETERMINISTIC takes a tile in all heads
// and then the one before it: a tile of keys then follows the one that it has to wait for (flash3_backward_turns.cuh)
// at a step's distance, though fewer queries see it. With rising tiles it would start as late as those that the other
// sees alone, and head by head it would wait for these in each. Under a block mask lists say which tiles there are.
#pragma once
#include "flash3_backward_layout.cuh"

constexpr int TILE_STRIDE = PARTS * DQ_PART / 4;  // from one tile's sums to the next one's, in float4

constexpr bool BY_PLACE = DETERMINISTIC || SPARSE;  // a tile in all heads, then the next one

// The next step: of which head, and at which place its tile of queries is.
__device__ __forceinline__ void advance(int& head, int& place, const Keys& keys, int group) {
    if (BY_PLACE) {
        if (++head == (keys.head + 1) * group) head -= group, ++place;
    } else if (++place == keys.end) {
        place = keys.first, ++head;
    }
}
__device__ __forceinline__ int tile_at(int place, const Keys& keys, const Tables& tables) {
    if (SPARSE) return tables.tile(place);
    return DETERMINISTIC ? keys.first + keys.end - 1 - place : place;
}

// The sums that a thread of a warpgroup adds to in each step.
template <bool by_place>
struct SumsIf;
template <>
struct SumsIf<true> : Tables {
    float4* const own;  // of the first head's first tile
    int head, place;
    __device__ __forceinline__ SumsIf(float* dq_sums, const Keys& keys, int group, int tiles_q, int part,
                                      const Tables& tables)
        : Tables(tables), own(reinterpret_cast<float4*>(dq_sums + part * DQ_PART) + threadIdx.x % 128),
          head(keys.head * group),
          place(keys.first) {}
    __device__ __forceinline__ float4* at(const Keys& keys, int tiles_q) const {
        return own + ((long long)head * tiles_q + tile_at(place, keys, *this)) * TILE_STRIDE;
    }
    __device__ __forceinline__ void next(const Keys& keys, int group, int) { advance(head, place, keys, group); }
};
template <>
struct SumsIf<false> : Tables {
    float4* own;
    int tile;
    __device__ __forceinline__ SumsIf(float* dq_sums, const Keys& keys, int group, int tiles_q, int part,
                                      const Tables& tables)
        : Tables(tables), own(reinterpret_cast<float4*>(
                  dq_sums + (((long long)keys.head * group * tiles_q + keys.first) * PARTS + part) * DQ_PART) +
              threadIdx.x % 128),
          tile(keys.first) {}
    __device__ __forceinline__ float4* at(const Keys&, int) const { return own; }
    __device__ __forceinline__ void next(const Keys& keys, int, int tiles_q) {
        own += TILE_STRIDE;
        if (++tile == keys.end) {
            tile = keys.first;
            own += (tiles_q - (keys.end - keys.first)) * TILE_STRIDE;
        }
    }
};
using Sums = SumsIf<BY_PLACE>;
