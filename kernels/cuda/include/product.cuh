// The two products of attention on one warp's MT x 16 rows. Every pair of matrices of the right operand that is read
// from shared memory feeds all MT sub-tiles: with MT = 1 shared memory, not the tensor cores, would set the pace.
#pragma once
#include "copy.cuh"

// A warp's rows of the left operand, read again from shared memory at every use or (KEEP) held in registers.
template <typename Tile, int MT, bool KEEP>
struct Rows {
    static constexpr int STEPS = Tile::COLUMNS / 16;
    unsigned lane_address;
    unsigned kept[KEEP ? STEPS : 1][MT][4];

    __device__ __forceinline__ void load(int step, unsigned (&x)[MT][4]) const {
#pragma unroll
        for (int i = 0; i < MT; ++i) load_matrices(x[i], Tile::at(lane_address, i, step));
    }
    __device__ __forceinline__ void keep() {
        if constexpr (KEEP) {
#pragma unroll
            for (int step = 0; step < STEPS; ++step) load(step, kept[step]);
        }
    }
    __device__ __forceinline__ void get(int step, unsigned (&x)[MT][4]) const {
        if constexpr (KEEP) {
#pragma unroll
            for (int i = 0; i < MT; ++i) {
#pragma unroll
                for (int c = 0; c < 4; ++c) x[i][c] = kept[step][i][c];
            }
        } else {
            load(step, x);
        }
    }
};

// What a product does once its first operands are there: as a rule nothing.
struct Nothing {
    __device__ __forceinline__ void operator()() const {}
};

// s = left * right^T: a row of `right` (K) for every column of s. `lane_right` is a lane_columns_first address.
template <typename Right, typename Left, int MT, int COLUMNS, typename Begun = Nothing>
__device__ __forceinline__ void multiply_rows(float (&s)[MT][COLUMNS][4], const Left& left, unsigned lane_right,
                                              const Begun& begun = Begun()) {
#pragma unroll
    for (int d = 0; d < Left::STEPS; ++d) {
        unsigned a[MT][4];
        left.get(d, a);
#pragma unroll
        for (int n = 0; n < COLUMNS / 2; ++n) {
            unsigned b[4];
            load_matrices(b, Right::at(lane_right, n, d));
            if (d == 0 && n == 0) begun();
#pragma unroll
            for (int i = 0; i < MT; ++i) {
                if (d == 0) {
                    multiply_first(s[i][2 * n], a[i], b[0], b[1]);
                    multiply_first(s[i][2 * n + 1], a[i], b[2], b[3]);
                } else {
                    multiply(s[i][2 * n], a[i], b[0], b[1]);
                    multiply(s[i][2 * n + 1], a[i], b[2], b[3]);
                }
            }
        }
    }
}

// acc += p * right for 16 columns of p, which meet the rows 16 step .. of `right` (V), from column 16 first on.
template <typename Right, int MT, int COLUMNS, typename Begun = Nothing>
__device__ __forceinline__ void multiply_step(float (&acc)[MT][COLUMNS][4], const unsigned (&p)[MT][4],
                                              unsigned lane_right, int step, int first = 0,
                                              const Begun& begun = Begun()) {
#pragma unroll
    for (int d = 0; d < COLUMNS / 2; ++d) {
        unsigned b[4];
        load_matrices_transposed(b, Right::at(lane_right, step, first + d));
        if (d == 0) begun();
#pragma unroll
        for (int i = 0; i < MT; ++i) {
            multiply(acc[i][2 * d], p[i], b[0], b[1]);
            multiply(acc[i][2 * d + 1], p[i], b[2], b[3]);
        }
    }
}

// acc += p * right, p from the registers that multiply_rows left it in.
template <typename Right, int MT, int KEYS, int COLUMNS, typename Begun = Nothing>
__device__ __forceinline__ void multiply_columns(float (&acc)[MT][COLUMNS][4], const float (&p)[MT][KEYS][4],
                                                 unsigned lane_right, int first = 0,
                                                 const Begun& begun = Begun()) {
#pragma unroll
    for (int n = 0; n < KEYS / 2; ++n) {
        unsigned packed[MT][4];
#pragma unroll
        for (int i = 0; i < MT; ++i) {
#pragma unroll
            for (int c = 0; c < 4; ++c) {
                const float* const x = &p[i][2 * n + c / 2][c % 2 * 2];
                packed[i][c] = pack(x[0], x[1]);
            }
        }
        if (n == 0) multiply_step<Right>(acc, packed, lane_right, n, first, begun);
        else multiply_step<Right>(acc, packed, lane_right, n, first);
    }
}

// A lane's part of a warp's sums to a tile in shared memory, whose rows begin at `first_row`.
template <typename Tile, int MT, int COLUMNS>
__device__ __forceinline__ void put_rows(unsigned char* tile, const float (&x)[MT][COLUMNS][4], int lane, int first_row,
                                         int first_column = 0) {
#pragma unroll
    for (int i = 0; i < MT; ++i) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int row = first_row + i * 16 + lane / 4 + 8 * r;
#pragma unroll
            for (int n = 0; n < COLUMNS; ++n) {
                *reinterpret_cast<unsigned*>(tile + Tile::offset(row, first_column / 8 + n) + lane % 4 * 4) =
                    pack(x[i][n][2 * r], x[i][n][2 * r + 1]);
            }
        }
    }
}

// A warp's rows of a result to HBM in 16-byte stores, by way of its own rows of a tile in shared memory.
// `warp_row`: the warp's first row in the tile; `rows` and `columns` limit what is stored.
template <typename Tile, int MT, int COLUMNS>
__device__ __forceinline__ void store_rows(unsigned char* tile, const float (&x)[MT][COLUMNS][4], int warp_row,
                                           element* target, long long stride, int rows, int columns) {
    const int lane = threadIdx.x % 32;
    put_rows<Tile>(tile, x, lane, warp_row);
    __syncwarp();
    const int chunk = lane % Tile::LANES;
    constexpr int AT_ONCE = 32 / Tile::LANES;
    target += chunk * 8;
#pragma unroll 4
    for (int row = warp_row + lane / Tile::LANES; row < warp_row + MT * 16; row += AT_ONCE) {
        if (row < rows && chunk * 8 < columns) {
            *reinterpret_cast<uint4*>(target + row * stride) =
                *reinterpret_cast<const uint4*>(tile + Tile::offset(row, chunk));
        }
    }
    __syncwarp();
}
