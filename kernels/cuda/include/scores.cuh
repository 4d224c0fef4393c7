// S as standard holds it in HBM and in the registers of its softmax: 16 bits a score, or float32 with FLOAT_SCORES.
#pragma once
#include "mma.cuh"

#if FLOAT_SCORES
using score = float;
constexpr unsigned NO_SCORES = 0xff800000u;  // a word of -inf
#elif defined(DTYPE_bfloat16)
using score = element;
constexpr unsigned NO_SCORES = 0xff80ff80u;
#else
using score = element;
constexpr unsigned NO_SCORES = 0xfc00fc00u;
#endif
constexpr int SCORE_RUN = 16 / sizeof(score);  // scores of one access

// Eight scores as they lie in HBM, so many of them in a word.
constexpr int PER_WORD = 4 / sizeof(score);
struct Scores {
    unsigned words[8 / PER_WORD];

    __device__ __forceinline__ float operator[](int i) const {
        if (FLOAT_SCORES) return __uint_as_float(words[i]);
        const float2 pair = unpack(words[i / 2]);
        return i % 2 ? pair.y : pair.x;
    }
    __device__ __forceinline__ void load(const score* source) {
#pragma unroll
        for (int i = 0; i < 8; i += SCORE_RUN) {
            const uint4 run = *reinterpret_cast<const uint4*>(source + i);
            unsigned* const w = words + i / PER_WORD;
            w[0] = run.x, w[1] = run.y, w[2] = run.z, w[3] = run.w;
        }
    }
    // Those at `column` of a row that counts from begin to end; the others are -inf.
    __device__ __forceinline__ void load(const score* row, int column, int begin, int end) {
        const bool inside = column < end && column + 8 > begin;
#pragma unroll
        for (unsigned& word : words) word = NO_SCORES;
        if (inside) load(row + column);
        if (inside && (column < begin || column + 8 > end)) {
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                constexpr unsigned ALL = 0xffffffffu >> (PER_WORD - 1) * 16;
                const unsigned one = ALL << i % PER_WORD * 16;
                if (column + i < begin || column + i >= end) {
                    words[i / PER_WORD] = words[i / PER_WORD] & ~one | NO_SCORES & one;
                }
            }
        }
    }
    // What was computed from them is no longer known: the compiler would keep a pass's floats for the next pass.
    __device__ __forceinline__ void forget() {
#pragma unroll
        for (unsigned& word : words) asm volatile("" : "+r"(word));
    }
};
