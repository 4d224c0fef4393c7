// Copies by the Tensor Memory Accelerator: one thread asks for a box of a tensor, and the box arrives swizzled in
// shared memory while its bytes are counted on an mbarrier. Rows beyond the tensor arrive as zeros. Boxes are stored
// likewise, without their rows beyond it.
#pragma once
#include "mbarrier.cuh"

struct alignas(64) TensorMap {  // CUtensorMap, made by tensor_map.py
    char bytes[128];
};

__device__ __forceinline__ void load_box(u32 to, const TensorMap& map, u32 bar, int column, int row, int head) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], [%2];" ::
            "r"(to), "l"(&map), "r"(bar), "r"(column), "r"(row), "r"(head)
        : "memory");
}

// A tile as panels of 64 columns: 128 bytes a row, the widest swizzle.
template <int panels>
__device__ __forceinline__ void load_tile(u32 to, u32 panel_bytes, const TensorMap& map, u32 bar, int row, int head) {
    expect(bar, panels * panel_bytes);
#pragma unroll
    for (int p = 0; p < panels; ++p) load_box(to + p * panel_bytes, map, bar, 64 * p, row, head);
}

// From shared memory. The thread that asks for stores commits them, and waits until what it has committed is read.
__device__ __forceinline__ void store_box(const TensorMap& map, u32 from, int column, int row, int head) {
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&map),
                 "r"(column), "r"(row), "r"(head), "r"(from)
                 : "memory");
}
__device__ __forceinline__ void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void stores_are_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
