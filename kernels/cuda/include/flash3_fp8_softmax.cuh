// The softmax of flash3-fp8: its scores come with a factor of their own for every key tile, and P goes to e4m3.
//
// Searching the maximum of every tile costs a fifth of the softmax, and no exponential can start before it is found.
// So the maxima of the tiles before serve on: P is computed with them, times 2^6, and only where four neighbours of a
// row sum up to more than 448, so that one might leave e4m3's range, is it computed again with the new maxima. The
// result is as exact as with every maximum, as long as nothing saturates: m is subtracted in O, l and LSE alike.
#pragma once
#include "flash3_fp8_layout.cuh"
#include "flash3_softmax.cuh"

constexpr int P_REGS = BLOCK_K / 8;
constexpr float LN2 = 0.693147180559945309f;
constexpr float P_SHIFT = 6.0f, P_LARGEST = 448.0f;
constexpr float NO_MAXIMUM = -1e30f;  // finite, so that any key that a row does see leaves the range

struct LazySoftmax {
    // m in powers of two; l and O as if P were 2^P_SHIFT P.
    float m[2] = {NO_MAXIMUM, NO_MAXIMUM}, l[2] = {0.0f, 0.0f};

    // Masked scores become -inf.
    __device__ __forceinline__ static void hide(float (&s)[S_REGS], const Mask& mask) {
#pragma unroll
        for (int i = 0; i < S_REGS; ++i) {
            if (i / 4 * 8 + i % 2 >= mask.to[i / 2 % 2]) s[i] = NONE;
        }
    }
    // Raise the maxima by scores c s; alpha is the factor on what was summed before.
    __device__ __forceinline__ void raise(const float (&s)[S_REGS], float c, float (&alpha)[2]) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            float top = fmaxf(s[2 * r], s[2 * r + 1]);
#pragma unroll
            for (int i = 4; i < S_REGS; i += 4) top = fmaxf(top, fmaxf(s[i + 2 * r], s[i + 2 * r + 1]));
            const float old = m[r];
            m[r] = fmaxf(old, quad_max(top) * c);
            alpha[r] = exp2_unit(old - m[r]);
            l[r] *= alpha[r];
        }
    }
    // p = exp2(c s - m + P_SHIFT) as the first operand of the product with V, and its sums; whether it stayed in range.
    // Within 16 keys a thread's four are neighbours: see quantise_values.
    __device__ __forceinline__ bool weigh(const float (&s)[S_REGS], u32 (&p)[P_REGS], float c, float (&sum)[2]) const {
        float largest = 0.0f;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float shift = P_SHIFT - m[r];
            sum[r] = 0.0f;
#pragma unroll
            for (int i = 0; i < P_REGS / 2; ++i) {
                float x[4];
#pragma unroll
                for (int e = 0; e < 4; ++e) x[e] = exp2_unit(fmaf(s[i * 8 + e / 2 * 4 + 2 * r + e % 2], c, shift));
                const float four = (x[0] + x[1]) + (x[2] + x[3]);
                sum[r] += four;
                largest = fmaxf(largest, four);
                p[i / 2 * 4 + i % 2 * 2 + r] = pack_e4m3(x[0], x[1], x[2], x[3]);
            }
        }
        return largest <= P_LARGEST;
    }
    // What flash3 stores LSE from, with ln 2 as the scale.
    __device__ __forceinline__ Softmax finished() const {
        Softmax state;
#pragma unroll
        for (int r = 0; r < 2; ++r) state.m[r] = m[r] - P_SHIFT, state.l[r] = l[r];
        return state;
    }
};
