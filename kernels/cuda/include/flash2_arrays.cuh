// In place of flash2_pages.cuh where K and V are arrays: nothing is looked up, and nothing copied by this.
#pragma once
#include "copy.cuh"
#include "sequences.cuh"

template <typename Tile, int ROWS>
struct Pages {
    __device__ __forceinline__ Pages(const element*, const element*, const int*, int, int, int, int, int) {}
    __device__ __forceinline__ void copy(unsigned, unsigned, int) const {}
};
