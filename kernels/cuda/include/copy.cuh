// Tiles from HBM to shared memory, 16 bytes a time and asynchronously, and where a lane finds its matrices there.
//
// Chunk c (16 bytes) of row r lies at chunk c ^ (r % 8): the eight rows of a matrix start in different banks, and so do
// the eight chunks of a row. Shared rows are whole groups of eight chunks.
#pragma once
#include "async_copy.cuh"
#include "mma.cuh"

constexpr int power_of_two(int x) { return x <= 1 ? 1 : 2 * power_of_two((x + 1) / 2); }

// Which row of a matrix each row of a tile holds: the same one.
struct InOrder {
    static constexpr __host__ __device__ int row(int r) { return r; }
};

// Which key each row of a tile of K or V holds, so that the products leave (of S) or take (as P) RUN neighbouring keys
// of a query in one lane, 16 bytes in HBM: a lane's columns 2 t, 2 t + 1 of the fragments 0 .. RUN / 2 - 1 are the keys
// RUN t .. RUN t + RUN - 1. The bits of the row change places, so row(a + b) = row(a) + row(b) if a and b share none.
template <int RUN>
struct RunOrder {
    static constexpr int GROUP = 4 * RUN;
    static constexpr __host__ __device__ int row(int r) {
        return r / GROUP * GROUP + r % 8 / 2 * RUN + r % GROUP / 8 * 2 + r % 2;
    }
};

// A tile of ROWS x WIDTH elements (WIDTH a multiple of 16) whose rows in HBM are 8-element multiples.
template <int ROWS, int WIDTH, int THREADS, typename Order = InOrder>
struct Tile {
    static constexpr int COLUMNS = WIDTH;
    static constexpr int ROW_BYTES = round_up(WIDTH, 64) * 2;
    static constexpr int BYTES = ROWS * ROW_BYTES;
    static constexpr int LANES = power_of_two(WIDTH / 8);  // threads on one row
    static constexpr int PASS = THREADS / LANES;           // rows at once
    static_assert(THREADS % LANES == 0 && (ROWS % PASS == 0 || PASS > ROWS), "whole rows, and whole passes");

    static __device__ __forceinline__ unsigned offset(int row, int chunk) {
        return row * ROW_BYTES + (((chunk ^ row) & 7) << 4) + ((chunk >> 3) << 7);
    }

    // The part of a tile that this thread copies: chunk `thread_chunk()` of every PASS-th row from `thread_row()` on.
    static __device__ __forceinline__ int thread_row() { return threadIdx.x / LANES; }
    static __device__ __forceinline__ int thread_chunk() { return threadIdx.x % LANES; }
    static __device__ __forceinline__ int source_row() { return Order::row(thread_row()); }

    // From `source` (thread_source() of the tile) to `target` (thread_target()). Rows from `rows` on and columns from
    // `columns` on become zeros, so that what meets them in a product stays finite.
    static __device__ __forceinline__ void copy(unsigned target, const element* source, long long stride, int rows,
                                                int columns) {
        if (LANES * 16 > ROW_BYTES && thread_chunk() * 16 >= ROW_BYTES) return;
        rows = thread_chunk() * 8 < columns ? rows - source_row() : 0;
#pragma unroll
        for (int i = 0; i < ROWS; i += PASS) {
            if (PASS <= ROWS || thread_row() < ROWS) {
                const unsigned to = PASS % 8 == 0 ? target + i * ROW_BYTES
                                                  : target - offset(thread_row(), thread_chunk()) +
                                                        offset(thread_row() + i, thread_chunk());
                copy_chunk(to, source + Order::row(i) * stride, Order::row(i) < rows);
            }
        }
    }

    // The other sign for what this thread copied.
    static __device__ __forceinline__ void negate(unsigned char* tile) {
        if (thread_chunk() * 16 >= ROW_BYTES) return;
        for (int row = thread_row(); row < ROWS; row += PASS) {
            uint4& x = *reinterpret_cast<uint4*>(tile + offset(row, thread_chunk()));
            x = make_uint4(x.x ^ 0x80008000u, x.y ^ 0x80008000u, x.z ^ 0x80008000u, x.w ^ 0x80008000u);
        }
    }

    static __device__ __forceinline__ unsigned thread_target(unsigned tile) {
        return tile + offset(thread_row(), thread_chunk());
    }
    static __device__ __forceinline__ const element* thread_source(const element* tile, long long stride) {
        return tile + source_row() * stride + thread_chunk() * 8;
    }

    // Lane addresses of 16 x 16 sub-tiles whose rows are the first index of the matrices' order (left operand; with
    // .trans, right operand of a product along the rows), or the second (right operand of a product along the columns).
    static __device__ __forceinline__ unsigned lane_rows_first(int lane) { return offset(lane & 15, lane >> 4); }
    static __device__ __forceinline__ unsigned lane_columns_first(int lane) {
        return offset((lane & 7) + ((lane >> 4) << 3), (lane >> 3) & 1);
    }
    // Sub-tile (row, column), in units of 16, from such a lane address.
    static __device__ __forceinline__ unsigned at(unsigned lane_address, int row, int column) {
        return (lane_address ^ ((column & 3) << 5)) + (column >> 2) * 128 + row * 16 * ROW_BYTES;
    }
};
