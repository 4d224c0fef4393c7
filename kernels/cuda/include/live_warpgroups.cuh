// flash3 in slow motion (live.cuh): each warpgroup tells of its 64 rows of a tile by its first thread when O has its product
// with V, and its warps wait. Only included with -DLIVE=1; its parts have the names of those in trace_warpgroups.cuh. A
// warpgroup's key tiles are walked downwards and end in that order, also under OVERLAP, where O gets a tile's product
// while the next tile's scores are made.
#pragma once
#include "flash3_layout.cuh"
#include "live.cuh"

struct Recorder {
    const Recording* to;
    int next;  // slot of the key tile that ends next

    __device__ __forceinline__ void begin(const Recording& recording, int head, int tiles_of_head, int first_slot, int, int) {
        to = &recording;
        next = head * tiles_of_head + first_slot;
        if (threadIdx.x % 32 == 0) SlowMotion::begin(recording);
    }
    template <int n>
    __device__ __forceinline__ void output(const float (&)[n], bool) {
        if (threadIdx.x % 32 == 0) {
            if (threadIdx.x % 128 == 0) SlowMotion::tell(*to, next * GROUPS + threadIdx.x / 128 - 1);
            SlowMotion::wait(*to);
        }
        --next;
        __syncwarp();
    }
};
