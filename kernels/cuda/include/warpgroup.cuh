// The two products of attention on the 64 rows of a warpgroup (wgmma, sm_90a), under the names of product.cuh. Both
// operands stay in shared memory and are read once for the four warps, whose sums lie in the same registers as those of
// a warp with one sub-tile: warp w of the block has the rows 16 w to 16 w + 15.
#pragma once
#include "copy.cuh"
#include "wgmma.cuh"

// A tile as wgmma reads it: panels of 64 columns one after the other, each in the 128-byte swizzle.
template <int ROWS, int WIDTH, int THREADS, typename Order = InOrder>
struct Panels : Tile<ROWS, WIDTH, THREADS, Order> {
    using Whole = Tile<ROWS, WIDTH, THREADS, Order>;
    using Panel = Tile<ROWS, 64, THREADS>;
    static constexpr int PANEL = Panel::BYTES;
    static_assert(WIDTH % 64 == 0 && Whole::LANES * 8 == WIDTH, "whole panels, and threads for whole rows");
    static_assert(Whole::PASS % 8 == 0 && ROWS % Whole::PASS == 0, "whole repetitions of the swizzle");

    static __device__ __forceinline__ void copy(unsigned target, const element* source, long long stride, int rows,
                                                int columns) {
        rows = Whole::thread_chunk() * 8 < columns ? rows - Whole::source_row() : 0;
#pragma unroll
        for (int i = 0; i < ROWS; i += Whole::PASS) {
            copy_chunk(target + i * Panel::ROW_BYTES, source + Order::row(i) * stride, Order::row(i) < rows);
        }
    }
    static __device__ __forceinline__ unsigned thread_target(unsigned tile) {
        return tile + Whole::thread_chunk() / 8 * PANEL + Panel::offset(Whole::thread_row(), Whole::thread_chunk() % 8);
    }
    // 16 columns of rows from `tile` on, as a left operand or a right one whose rows meet the columns of the sums.
    static __device__ __forceinline__ u64 columns(unsigned tile, int step) {
        return descriptor(tile + step / 4 * PANEL + step % 4 * 32, 16);
    }
    // 16 rows, as a right operand whose columns meet those of the sums.
    static __device__ __forceinline__ u64 rows(unsigned tile, int step) {
        return descriptor(tile + step * 16 * Panel::ROW_BYTES, PANEL);
    }
    // Where the rows of this thread's warpgroup begin.
    static __device__ __forceinline__ unsigned group(unsigned tile) {
        return tile + threadIdx.x / 128 * 64 * Panel::ROW_BYTES;
    }
};

// What this thread has copied becomes visible to wgmma, which does not read as threads do; a barrier must follow.
__device__ __forceinline__ void publish_copies() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// s = left * right^T, `left` a group() of the tile.
template <typename Left, typename Right, int COLUMNS>
__device__ __forceinline__ void multiply_rows(float (&s)[1][COLUMNS][4], unsigned left, unsigned right) {
    float(&sums)[COLUMNS * 4] = reinterpret_cast<float(&)[COLUMNS * 4]>(s);
    wgmma_fence();
    wgmma_ss<0>(sums, Left::columns(left, 0), Right::columns(right, 0));
#pragma unroll
    for (int d = 1; d < Left::COLUMNS / 16; ++d) {
        wgmma_ss<1>(sums, Left::columns(left, d), Right::columns(right, d));
    }
    wgmma_commit();
    wgmma_wait<0>();
    pin(sums);
}

// acc += left * right: under way until finish_columns.
template <typename Left, typename Right, int COLUMNS>
__device__ __forceinline__ void start_columns(float (&acc)[1][COLUMNS][4], unsigned left, unsigned right) {
    float(&sums)[COLUMNS * 4] = reinterpret_cast<float(&)[COLUMNS * 4]>(acc);
    pin(sums);
    wgmma_fence();
#pragma unroll
    for (int n = 0; n < Left::COLUMNS / 16; ++n) {
        wgmma_sst(sums, Left::columns(left, n), Right::rows(right, n));
    }
    wgmma_commit();
}
template <int COLUMNS>
__device__ __forceinline__ void finish_columns(float (&acc)[1][COLUMNS][4]) {
    wgmma_wait<0>();
    pin(reinterpret_cast<float(&)[COLUMNS * 4]>(acc));
}
