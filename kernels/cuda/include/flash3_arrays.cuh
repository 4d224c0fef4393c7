// Tiles of K and V by TMA, from arrays; flash3_pages.cuh takes them from pages.
#pragma once
#include "flash3_layout.cuh"
#include "tma.cuh"

constexpr int LOADERS = 1;  // threads of the producer

struct PageTable {};  // what a launch is given of pages: none here
struct Pages {
    __device__ __forceinline__ Pages(const PageTable&, int, int, int) {}
    __device__ __forceinline__ int2 find(int) const { return make_int2(0, 0); }
};

// Of K, or of V with its own panels; `box` is of pages.
template <int panels = PANELS>
__device__ __forceinline__ void load_keys(u32 to, const TensorMap& map, u32 bar, int key, int kv, int2 box) {
    load_tile<panels>(to, K_PANEL, map, bar, key, kv);
}
// The next tile, from a counter.
__device__ __forceinline__ int draw_tile(int* counter) {
    return atomicAdd(counter, 1);
}
