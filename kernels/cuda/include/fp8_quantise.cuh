// From 16-bit rows to the 8-bit blocks that the products read: e4m3 (1 sign, 4 exponent, 3 mantissa bits, up to 448)
// times a power of two a block. kernels/catalogue/fp8.py says the same in NumPy, to the bit.
//
// Q and K are first turned by the same matrix D H: signs D by a hash of the column, then the Hadamard matrix H over
// the largest power of two that divides the head dimension. That leaves QK^T alone but for the factor H_SIZE and
// spreads an outlier over the row (QuIP#, arXiv 2402.04396; FlashAttention-3, section 3.3).
//
// A block of threads reads its rows twice, the second time from the L1: first for the power of two, then to convert.
// Nothing is held in between, so that many blocks share an SM and hide each other's waits.
#pragma once
#include "element.cuh"
#include "flash3_fp8_layout.cuh"

constexpr int QUANTISE_THREADS = 256;
constexpr int H_SIZE = HEAD_DIM & -HEAD_DIM;

// Whether a column changes its sign: the top bit of MurmurHash3's final mix.
__device__ __forceinline__ bool flips(u32 column) {
    u32 h = column + 1;
    h = (h ^ h >> 16) * 0x85ebca6bu;
    h = (h ^ h >> 13) * 0xc2b2ae35u;
    return (h ^ h >> 16) >> 31;
}

// The exponent of the smallest power of two that brings a magnitude to 448 or less, within +-LARGEST_EXPONENT.
constexpr int LARGEST_EXPONENT = 62;
__device__ __forceinline__ int block_exponent(float largest) {
    const int exponent = (int)(__float_as_uint(largest) + 0x1FFFFF >> 23) - 127 - 8;  // 448 is 1.75 times 2^8
    return min(max(exponent, -LARGEST_EXPONENT), LARGEST_EXPONENT);
}
__device__ __forceinline__ float power_of_two(int exponent) { return __uint_as_float(127 + exponent << 23); }

// The maximum over the block of threads.
__device__ __forceinline__ float block_max(float x) {
    __shared__ float part[QUANTISE_THREADS / 32];
#pragma unroll
    for (int lanes = 16; lanes; lanes /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, lanes));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
#pragma unroll
    for (int w = 1; w < QUANTISE_THREADS / 32; ++w) x = fmaxf(x, part[w]);
    return x;
}

// 16 columns of a row, or zeros.
__device__ __forceinline__ void load_columns(float (&x)[16], const element* source, bool there) {
    Vector raw[2] = {};
    if (there) raw[0] = load_vector(source), raw[1] = load_vector(source + 8);
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = to_float(raw[i / 8].x[i % 8]);
}

// The sum of the magnitudes that meet in the Hadamard matrix, which no entry of the turned row exceeds.
__device__ __forceinline__ float magnitude(const float (&x)[16]) {
    float sum[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) sum[i] = fabsf(x[i]);
#pragma unroll
    for (int h = 1; h < 16; h *= 2) {
#pragma unroll
        for (int i = 0; i < 16; i += 2 * h) sum[i] += sum[i + h];
    }
#pragma unroll
    for (int h = 1; h < H_SIZE / 16; h *= 2) sum[0] += __shfl_xor_sync(~0u, sum[0], h);
    return sum[0];
}

// x H: 16 columns of a row a thread.
__device__ __forceinline__ void hadamard(float (&x)[16]) {
#pragma unroll
    for (int h = 1; h < 16; h *= 2) {
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            if (i & h) continue;
            const float low = x[i], high = x[i + h];
            x[i] = low + high;
            x[i + h] = low - high;
        }
    }
#pragma unroll
    for (int h = 1; h < H_SIZE / 16; h *= 2) {
        const float own = threadIdx.x & h ? -1.0f : 1.0f;
#pragma unroll
        for (int i = 0; i < 16; ++i) x[i] = fmaf(x[i], own, __shfl_xor_sync(~0u, x[i], h));
    }
}

// One block of rows of Q or K, `count` of which there are: a thread takes 16 columns of every ROWS_A_PASS-th row.
template <int rows>
__device__ __forceinline__ void quantise_rows(const element* source, int count, float sign, unsigned char* to) {
    constexpr int LANES = HEAD_DIM / 16, ROWS_A_PASS = QUANTISE_THREADS / LANES;
    const int lane = threadIdx.x % LANES, first = threadIdx.x / LANES;
    const int stop = first < ROWS_A_PASS ? rows : 0;
    source += lane * 16;
    float x[16], largest = 0.0f;
#pragma unroll 4
    for (int pass = 0; pass < rows; pass += ROWS_A_PASS) {
        const int row = first + pass;
        load_columns(x, source + row * HEAD_DIM, row < min(stop, count));
        largest = fmaxf(largest, magnitude(x));
    }
    const int exponent = block_exponent(block_max(largest));
    float factors[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) factors[i] = (flips(lane * 16 + i) ? -sign : sign) * power_of_two(-exponent);
#pragma unroll 2
    for (int pass = 0; pass < rows; pass += ROWS_A_PASS) {
        const int row = first + pass;
        load_columns(x, source + row * HEAD_DIM, row < min(stop, count));
#pragma unroll
        for (int i = 0; i < 16; ++i) x[i] *= factors[i];
        hadamard(x);
        if (row < stop)
            *(uint4*)(to + operand_at<HEAD_DIM>(row, lane * 16)) =
                make_uint4(pack_e4m3(x[0], x[1], x[2], x[3]), pack_e4m3(x[4], x[5], x[6], x[7]),
                           pack_e4m3(x[8], x[9], x[10], x[11]), pack_e4m3(x[12], x[13], x[14], x[15]));
    }
    if (threadIdx.x == 0) *(float*)(to + rows * HEAD_DIM) = power_of_two(exponent);
}

__device__ __forceinline__ u32 load_pair(const element* source, bool there) { return there ? *(const u32*)source : 0; }
__device__ __forceinline__ float low_of(u32 pair) { return to_float((element)pair); }
__device__ __forceinline__ float high_of(u32 pair) { return to_float((element)(pair >> 16)); }

// One tile of V, transposed: a thread takes 16 keys x 2 columns. Within 16, position 4 t + e holds key
// 8 (e / 2) + 2 t + e % 2: the order in which a thread of the product holds its scores.
__device__ __forceinline__ void quantise_values(const element* source, int count, unsigned char* to) {
    constexpr int LANES = HEAD_DIM / 2, PATCHES = BLOCK_K / 16 * LANES;
    float largest = 0.0f;
#pragma unroll 8
    for (int i = threadIdx.x; i < BLOCK_K * LANES; i += QUANTISE_THREADS) {
        const u32 pair = load_pair(source + 2 * i, i < count * LANES);
        largest = fmaxf(largest, fmaxf(fabsf(low_of(pair)), fabsf(high_of(pair))));
    }
    const int exponent = block_exponent(block_max(largest));
    const float inverse = power_of_two(-exponent);
#pragma unroll 1
    for (int patch = threadIdx.x; patch < PATCHES; patch += QUANTISE_THREADS) {
        const int column = patch % LANES * 2, key = patch / LANES * 16;
        u32 raw[16], low[4], high[4];
#pragma unroll
        for (int k = 0; k < 16; ++k)
            raw[k] = load_pair(source + (key + k) * HEAD_DIM + column, key + k < count);
#pragma unroll
        for (int t = 0; t < 4; ++t) {
            const u32 a = raw[2 * t], b = raw[2 * t + 1], c = raw[8 + 2 * t], d = raw[9 + 2 * t];
            low[t] = pack_e4m3(low_of(a) * inverse, low_of(b) * inverse, low_of(c) * inverse, low_of(d) * inverse);
            high[t] = pack_e4m3(high_of(a) * inverse, high_of(b) * inverse, high_of(c) * inverse, high_of(d) * inverse);
        }
        uint4* out = (uint4*)(to + operand_at<BLOCK_K>(column, key));
        out[0] = make_uint4(low[0], low[1], low[2], low[3]);
        out[1] = make_uint4(high[0], high[1], high[2], high[3]);
    }
    if (threadIdx.x == 0) *(float*)(to + TRAILER_AT) = power_of_two(exponent);
}
