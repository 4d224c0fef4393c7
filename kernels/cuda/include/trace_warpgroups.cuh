// What flash3 records after each tile (i, j) of one head, where a warpgroup holds S and O in the registers of wgmma. Only included
// with -DTRACE=1: the kernel that is timed has none of it. Slots and units are those of trace_fragments.cuh. Under OVERLAP
// O gets a tile's product while the next tile's scores are made: it is recorded then, in the slot of the tile before.
#pragma once
#include "flash3_layout.cuh"
#include "quad.cuh"
#include "scalar.cuh"

struct Recording {
    float* s;         // (slots, BLOCK_Q, BLOCK_K)
    float* m;         // (slots, BLOCK_Q)
    float* l;         // (slots, BLOCK_Q)
    float* alpha;     // (slots, BLOCK_Q)
    float* o;         // (slots, BLOCK_Q, HEAD_DIM)
    long long* t_ns;  // (slots)
    int* sm;          // (slots)
    int head;         // that is recorded, among those of all sequences; one of packed heads is all of them
    unsigned char* twice;  // (slots, BLOCK_Q), where P is computed again with newer maxima: flash3-fp8 alone
};

struct Recorder {
    Recording to;
    int row;            // the thread's first one in the tile; the other is 8 below
    int rows;           // of the tile that are recorded: none of another head
    int next;           // slot of the key tile that comes next: they are walked downwards
    int slot, before;   // of the tile in hand, and of the one before it

    __device__ __forceinline__ void begin(const Recording& recording, int head, int, int first_slot, int thread_row,
                                          int tile_rows) {
        to = recording;
        next = slot = before = first_slot;
        row = thread_row;
        rows = head == to.head ? tile_rows : 0;
    }
    // `x`: masked, of the tile's first keys; there are no scores of the others.
    template <int n>
    __device__ __forceinline__ void scores(const float (&x)[n], float c) {
        before = slot;
        slot = next--;
        put<n, BLOCK_K>(to.s, slot, x, c * LN2);
    }
    __device__ __forceinline__ void state(const float (&m)[2], const float (&l)[2], const float (&alpha)[2],
                                          float unit) const {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const float sum = quad_sum(l[r]);
            const bool none = m[r] == NO_MAXIMUM || m[r] == MINUS_INFINITY;
            if (row + 8 * r >= rows || threadIdx.x % 4 != 0) continue;
            const long long at = (long long)slot * BLOCK_Q + row + 8 * r;
            to.m[at] = none ? MINUS_INFINITY : m[r] * unit;
            to.l[at] = sum;
            to.alpha[at] = none ? 1.0f : alpha[r];
        }
        if (threadIdx.x % 128 != 0 || rows <= 0) return;
        long long now;
        int id;
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
        asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
        to.t_ns[slot] = now;
        to.sm[slot] = id;
    }
    __device__ __forceinline__ void again() const {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            if (row + 8 * r < rows && threadIdx.x % 4 == 0) to.twice[(long long)slot * BLOCK_Q + row + 8 * r] = 1;
        }
    }
    __device__ __forceinline__ void output(const float (&x)[O_REGS], bool of_tile_before, float unit = 1.0f) const {
        put<O_REGS, HEAD_DIM>(to.o, of_tile_before ? before : slot, x, unit);
    }
    template <int REGISTERS, int COLUMNS>
    __device__ __forceinline__ void put(float* target, int tile, const float (&x)[REGISTERS], float factor) const {
#pragma unroll
        for (int i = 0; i < REGISTERS; ++i) {
            const int line = row + 8 * (i / 2 % 2), column = i / 4 * 8 + threadIdx.x % 4 * 2 + i % 2;
            if (line < rows) target[((long long)tile * BLOCK_Q + line) * COLUMNS + column] = x[i] * factor;
        }
    }
};

// What the launch that merges parts of keys records after each addition: those of the parts, then those of other lanes.
struct MergeRecording {
    float* m;  // (additions, seqlen_q), natural units
    float* l;  // (additions, seqlen_q)
    float* o;  // (additions, seqlen_q, HEAD_DIM), not divided by l
    int head;  // that is recorded

    // `row`: among those of all heads; a thread has four of its columns, from 4 `column` on.
    template <typename Sum>
    __device__ __forceinline__ void added(int addition, long long row, int seqlen_q, int column, const Sum& sum) const {
        if (row / seqlen_q != head) return;
        const long long at = (long long)addition * seqlen_q + row % seqlen_q;
        reinterpret_cast<float4*>(o)[at * (HEAD_DIM / 4) + column] = sum.o;
        if (column > 0) return;
        m[at] = sum.m == NO_MAXIMUM ? MINUS_INFINITY : sum.m * LN2;
        l[at] = sum.l;
    }
};
