// The softmax of flash3-fp8: its scores come with a factor of their own for every key tile, and P goes to e4m3.
//
// Searching the maximum of every tile costs a fifth of the softmax, and no exponential can start before it is found.
// So the maxima of the tiles before serve on: P is computed with them, times 2^5, and only where eight of a row sum up
// to more than 448, so that one might leave e4m3's range, is it computed again with the new maxima. 2^6 would leave
// less room above the maxima: of normal scores some row leaves it in 5 % of the tiles at N = 16k. Nothing is lost by
// older maxima as long as nothing saturates: m is subtracted in O, l and LSE alike.
#pragma once
#include "flash3_fp8_layout.cuh"
#include "flash3_softmax.cuh"

constexpr int HALF_S = S_REGS / 2, HALF_P = HALF_S / 4;  // registers of half a tile's scores, and of their P
constexpr float P_SHIFT = 5.0f, P_LARGEST = 448.0f;
constexpr float FIRST_SHIFT = 1e30f;  // finite, so that any key that a row does see leaves the range
#if TRACE
constexpr float P_UNIT = 1.0f / 32;  // 2^-P_SHIFT: what l and O are recorded in
#endif

struct LazySoftmax {
    // P_SHIFT - m in powers of two; l and O are of P times 2^P_SHIFT.
    float shift[2] = {FIRST_SHIFT, FIRST_SHIFT}, l[2] = {0.0f, 0.0f};

    // Masked scores become -inf.
    __device__ __forceinline__ static void hide(float (&s)[2][HALF_S], const RowMask& mask) {
#pragma unroll
        for (int i = 0; i < S_REGS; ++i) {
            if (i / 4 * 8 + i % 2 >= mask.to[i / 2 % 2]) s[i / HALF_S][i % HALF_S] = MINUS_INFINITY;
        }
    }
    // Raise the maxima by scores c s; alpha is the factor on what was summed before.
    __device__ __forceinline__ void raise(const float (&s)[2][HALF_S], float c, float (&alpha)[2]) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            float top = MINUS_INFINITY;
#pragma unroll
            for (int i = 2 * r; i < S_REGS; i += 4) {
                top = fmaxf(top, fmaxf(s[i / HALF_S][i % HALF_S], s[i / HALF_S][i % HALF_S + 1]));
            }
            const float old = shift[r];
            shift[r] = fminf(old, fmaf(quad_max(top), -c, P_SHIFT));
            alpha[r] = exp2_approx(shift[r] - old);
            l[r] *= alpha[r];
        }
    }
    // p = exp2(c s + shift) of half a tile as the first operand of the product with V, added up in `sum`; whether it is
    // in range. Within 16 keys a thread's four are neighbours: see quantise_values.
    __device__ __forceinline__ bool weigh(const float (&s)[HALF_S], u32 (&p)[HALF_P], float c, float (&sum)[2]) const {
        float largest = 0.0f, four[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
#pragma unroll
            for (int i = 0; i < HALF_P / 2; ++i) {
                float x[4];
#pragma unroll
                for (int e = 0; e < 4; ++e) x[e] = exp2_approx(fmaf(s[i * 8 + e / 2 * 4 + 2 * r + e % 2], c, shift[r]));
                p[i / 2 * 4 + i % 2 * 2 + r] = pack_e4m3(x[0], x[1], x[2], x[3]);
                four[i % 2] = (x[0] + x[1]) + (x[2] + x[3]);
                if (i % 2 == 0) continue;
                const float eight = four[0] + four[1];
                sum[r] += eight;
                largest = fmaxf(largest, eight);
            }
        }
        return largest <= P_LARGEST;
    }
#if TRACE
    // m of row r, in powers of two.
    __device__ __forceinline__ float reference(int r) const {
        return shift[r] == FIRST_SHIFT ? NO_MAXIMUM : P_SHIFT - shift[r];
    }
#endif
    // What flash3 stores LSE from.
    __device__ __forceinline__ Softmax finished() const {
        Softmax state;
#pragma unroll
        for (int r = 0; r < 2; ++r) state.m[r] = -shift[r], state.l[r] = l[r];
        state.total();
        return state;
    }
};
