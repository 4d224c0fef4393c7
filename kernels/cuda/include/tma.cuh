// Copies by the Tensor Memory Accelerator: one thread asks for a box of a tensor, and the box arrives swizzled in
// shared memory while its bytes are counted on an mbarrier. Rows beyond the tensor arrive as zeros.
#pragma once
#include "mbarrier.cuh"

struct alignas(64) TensorMap {  // CUtensorMap, made by tensor_map.py
    char bytes[128];
};

// What the L2 should do with a box: give it up first, or keep it longest.
constexpr int AS_USUAL = 0, GIVE_UP = 1, KEEP = 2;
template <int hint>
__device__ __forceinline__ u64 policy() {
    u64 made;
    if (hint == GIVE_UP) asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(made));
    else asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(made));
    return made;
}

template <int hint = AS_USUAL>
__device__ __forceinline__ void load_box(u32 to, const TensorMap& map, u32 bar, int column, int row, int head) {
    if constexpr (hint == AS_USUAL) {
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5}], "
            "[%2];" ::"r"(to),
            "l"(&map), "r"(bar), "r"(column), "r"(row), "r"(head)
            : "memory");
    } else {
        asm volatile(
            "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
            "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
            "l"(&map), "r"(bar), "r"(column), "r"(row), "r"(head), "l"(policy<hint>())
            : "memory");
    }
}

// A tile as panels of 64 columns: 128 bytes a row, the widest swizzle.
template <int panels, int hint = AS_USUAL>
__device__ __forceinline__ void load_tile(u32 to, u32 panel_bytes, const TensorMap& map, u32 bar, int row, int head) {
    expect(bar, panels * panel_bytes);
#pragma unroll
    for (int p = 0; p < panels; ++p) load_box<hint>(to + p * panel_bytes, map, bar, 64 * p, row, head);
}
