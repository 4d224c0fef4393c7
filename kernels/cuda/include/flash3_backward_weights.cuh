// What flash3's backward pass makes of S^T and dP^T in registers, P and dS, and where these and dQ go from there.
#pragma once
#include "flash3_backward_layout.cuh"
#include "scoring.cuh"

// Of each of a thread's two keys the queries that see it, counted from the thread's first: from .. to.
struct Visible {
    int from[2], to[2];
    __device__ __forceinline__ Visible(const Mask& mask, int key, int query) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int at = key + 8 * r;
            from[r] = at >= mask.seqlen_k ? BLOCK_Q : CAUSAL || WINDOW ? at - mask.right + 1 - query : 0;
            to[r] = WINDOW ? at - mask.left - query : BLOCK_Q;
        }
    }
};

__device__ __forceinline__ float2 load_pair(u32 address) {
    float2 x;
    asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(x.x), "=f"(x.y) : "r"(address) : "memory");
    return x;
}

// Scores become P = exp2(c s - LSE). `lse`: of the thread's first query, negative.
__device__ __forceinline__ void probabilities(float (&s)[S_REGS], u32 lse, float c) {
#pragma unroll
    for (int i = 0; i < S_REGS; i += 4) {
        const float2 minus = load_pair(lse + i * 8);
        s[i] = exp2_approx(fmaf(s[i], c, minus.x));
        s[i + 1] = exp2_approx(fmaf(s[i + 1], c, minus.y));
        s[i + 2] = exp2_approx(fmaf(s[i + 2], c, minus.x));
        s[i + 3] = exp2_approx(fmaf(s[i + 3], c, minus.y));
    }
}
#if SOFTCAP || ALIBI
// The same with a softcap or a bias. `base`: the bias of the thread's first pair, in base 2.
struct Scored {
    ScoreTerms terms;
    float base;
    // Of a head of all sequences, whose pair's key is so far ahead of its query.
    __device__ __forceinline__ Scored(const Scoring& scoring, float scale, int head, int distance)
        : terms(ScoreTerms::of(scoring, scale * LOG2E, scale, head)), base(terms.slope * float(distance)) {}
    // Four of them, from `i` on; how fast each changes with the scaled product.
    __device__ __forceinline__ void apply(float (&s)[S_REGS], int i, float2 minus, float (&rates)[4]) const {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            float add = j % 2 ? minus.y : minus.x;
            if (ALIBI) add = fmaf(terms.slope, float(j / 2 * 8 - i / 4 * 8 - j % 2), add + base);
            float& x = s[i + j];
            if (SOFTCAP) x = tanh_of(x * terms.share);
            rates[j] = 1.0f - x * x;
            x = exp2_approx(fmaf(x, terms.factor, add));
        }
    }
};
__device__ __forceinline__ void probabilities(float (&s)[S_REGS], u32 lse, const Scored& scored) {
#pragma unroll
    for (int i = 0; i < S_REGS; i += 4) {
        float rates[4];
        scored.apply(s, i, load_pair(lse + i * 8), rates);
    }
}
// SOFTCAP: beside P what dS has of the softcap's slope, which dP - delta is multiplied with.
__device__ __forceinline__ void probabilities(float (&s)[S_REGS], float (&dp)[S_REGS], u32 lse, u32 delta,
                                              const Scored& scored) {
#pragma unroll
    for (int i = 0; i < S_REGS; i += 4) {
        float rates[4];
        const float2 d = load_pair(delta + i * 8);
        scored.apply(s, i, load_pair(lse + i * 8), rates);
#pragma unroll
        for (int j = 0; j < 4; ++j) dp[i + j] = (dp[i + j] - (j % 2 ? d.y : d.x)) * rates[j];
    }
}
// ... and P times that slope, for the warpgroup that has dP.
__device__ __forceinline__ void probabilities(float (&s)[S_REGS], float (&sloped)[S_REGS], u32 lse, const Scored& scored) {
#pragma unroll
    for (int i = 0; i < S_REGS; i += 4) {
        float rates[4];
        scored.apply(s, i, load_pair(lse + i * 8), rates);
#pragma unroll
        for (int j = 0; j < 4; ++j) sloped[i + j] = s[i + j] * rates[j];
    }
}
#endif
__device__ __forceinline__ void hide(float (&p)[S_REGS], const Visible& visible) {
#pragma unroll
    for (int i = 0; i < S_REGS; ++i) {
        const int column = i / 4 * 8 + i % 2, r = i / 2 % 2;
        if (column < visible.from[r] || (WINDOW && column > visible.to[r])) p[i] = 0.0f;
    }
}
__device__ __forceinline__ void hide_blocks(float (&p)[S_REGS], const Tables& tables, int key, int q0, int seqlen_q,
                                            int seqlen_k) {
    const u32 kept[2] = {tables.kept_from(key, q0, seqlen_q, seqlen_k), tables.kept_from(key + 8, q0, seqlen_q, seqlen_k)};
#pragma unroll
    for (int i = 0; i < S_REGS; ++i) {
        if (!(kept[i / 2 % 2] >> i / 4 & 1)) p[i] = 0.0f;
    }
}
// Of two queries; where a warpgroup has both S and dP, a softcap's P was computed with it.
__device__ __forceinline__ float2 load_delta(u32 address) {
    return SOFTCAP && !WIDE ? make_float2(0.0f, 0.0f) : load_pair(address);
}
// dP becomes dS = P (dP - delta). `delta`: of the thread's first query.
__device__ __forceinline__ void weights(float (&dp)[S_REGS], const float (&p)[S_REGS], u32 delta) {
#pragma unroll
    for (int i = 0; i < S_REGS; i += 4) {
        const float2 d = load_delta(delta + i * 8);
        dp[i] = p[i] * (dp[i] - d.x);
        dp[i + 1] = p[i + 1] * (dp[i + 1] - d.y);
        dp[i + 2] = p[i + 2] * (dp[i + 2] - d.x);
        dp[i + 3] = p[i + 3] * (dp[i + 3] - d.y);
    }
}
__device__ __forceinline__ void pack_all(u32 (&packed)[S_REGS / 2], const float (&x)[S_REGS]) {
#pragma unroll
    for (int i = 0; i < S_REGS / 2; ++i) packed[i] = pack(x[2 * i], x[2 * i + 1]);
}
// dS^T to shared memory: rows of keys, panels of 64 queries. `row`: this thread's of the 16 of its warp.
__device__ __forceinline__ void put_weights(u32 row, const u32 (&ds)[S_REGS / 2]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int i = 0; i < BLOCK_Q / 16; ++i) {
        const u32 chunk = (i % 4 * 2 + lane / 16) ^ lane % 8;
        asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row + i / 4 * K_PANEL +
                                                                                              chunk * 16),
                     "r"(ds[4 * i]), "r"(ds[4 * i + 1]), "r"(ds[4 * i + 2]), "r"(ds[4 * i + 3])
                     : "memory");
    }
}
// These three for TURNED, 16 queries at a time, as registers must be free again: dS and P packed, and dS in shared memory
// in rows of queries, panels of 64 keys. `row`: this thread's of the 16.
__device__ __forceinline__ void put_turned(u32 (&packed)[S_REGS / 2], const float (&p)[S_REGS], const float (&dp)[S_REGS],
                                           u32 delta, u32 row) {
    float2 d[2] = {load_delta(delta), load_delta(delta + 32)};
#pragma unroll
    for (int i = 0; i < S_REGS; i += 8) {
        u32 ds[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int at = i + 2 * j;
            ds[j] = pack(p[at] * (dp[at] - d[j / 2].x), p[at + 1] * (dp[at + 1] - d[j / 2].y));
            packed[at / 2] = pack(p[at], p[at + 1]);
        }
        if (i + 8 < S_REGS) d[0] = load_delta(delta + (i + 8) * 8), d[1] = load_delta(delta + (i + 12) * 8);
        asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(row + i / 8 * 2048),
                     "r"(ds[0]), "r"(ds[1]), "r"(ds[2]), "r"(ds[3])
                     : "memory");
    }
}
// dS of a warpgroup whose keys none of the queries sees. `to`: its panel.
__device__ __forceinline__ void hide_weights(u32 to) {
#pragma unroll
    for (u32 i = 0; i < Q_PANEL; i += 2048) store_zeros(to + i + threadIdx.x % 128 * 16);
}
__device__ __forceinline__ void add_dq(float4* sums, const float (&dq)[DQ_REGS]) {
#pragma unroll
    for (int i = 0; i < DQ_REGS / 4; ++i)
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(sums + i * 128), "f"(dq[4 * i]),
                     "f"(dq[4 * i + 1]), "f"(dq[4 * i + 2]), "f"(dq[4 * i + 3])
                     : "memory");
}
