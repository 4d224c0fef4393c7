// Which keys a row attends to, for all kernels.
#pragma once

#define MINUS_INFINITY __int_as_float(0xff800000)  // the score of a masked entry
constexpr float LN2 = 0.693147180559945309f, LOG2E = 1.44269504088896341f;

// Row q attends to the keys begin(q) <= k < end(q). Nk - Nq aligns the last query with the last key.
struct Mask {
    int seqlen_k;
    int left;   // Nk - Nq - how far a row sees to the left
    int right;  // Nk - Nq + how far it sees to the right + 1

    __device__ __forceinline__ int begin(int q) const {
#if WINDOW
        return max(0, q + left);
#else
        return 0;
#endif
    }
    __device__ __forceinline__ int end(int q) const {
#if CAUSAL || WINDOW
        return min(seqlen_k, q + right);
#else
        return seqlen_k;
#endif
    }
    static __device__ __forceinline__ Mask of(int seqlen_q, int seqlen_k, int window_left, int window_right) {
        const int shift = seqlen_k - seqlen_q;
        return Mask{seqlen_k, shift - window_left, shift + 1 + (CAUSAL ? 0 : window_right)};
    }
};
