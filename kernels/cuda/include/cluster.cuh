// Blocks of a cluster (PTX ISA, cluster): where all of them meet, and what one does to the shared memory of another. An
// address of one's own names the same place in each.
#pragma once
#include "tma.cuh"

// All threads of all blocks meet.
__device__ __forceinline__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
__device__ __forceinline__ u32 address_in(u32 address, int block) {
    u32 there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(block));
    return there;
}
__device__ __forceinline__ void arrive_in(u32 bar, int block) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(address_in(bar, block)) : "memory");
}
// Bytes of this block's, counted on a barrier of the other one's.
__device__ __forceinline__ void send_bytes(u32 to, u32 from, u32 bytes, u32 bar, int block) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     address_in(to, block)),
                 "r"(from), "r"(bytes), "r"(address_in(bar, block))
                 : "memory");
}
// A box to the same place in every block of the mask, its bytes counted on the barrier of each.
__device__ __forceinline__ void load_box_to_all(u32 to, const TensorMap& map, u32 bar, int column, int row, int head,
                                                unsigned short blocks) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
        "l"(&map), "r"(bar), "r"(column), "r"(row), "r"(head), "h"(blocks)
        : "memory");
}
