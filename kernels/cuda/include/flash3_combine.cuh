// SPLIT: the store of parts of a row's keys, and what they come to:
// O = sum O_s 2^(m_s - M) / sum l_s 2^(m_s - M), M the largest m_s, and LSE.
// Always in the same order, so that every run gives the same bits; m is what the part's exponentials really had
// subtracted, so that no rounding of LSE enters the weights.
#pragma once
#include "flash3_lengths.cuh"
#include "flash3_softmax.cuh"
#include "launch_order.cuh"

// Of one part of a row's keys: O = sum p V, and m in base 2 with l = sum p. `unit` is what m counts in.
using Output = float;
using RowSum = float2;
__device__ __forceinline__ void store_rows(float (&o)[O_REGS], const Softmax& state, Output* out, RowSum* sums, int head,
                                           int row0, int seqlen_q,
                                           float unit, int head_rows, int queries) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float l = state.l[r];
        const int row = row0 + 8 * r;
        if (row >= seqlen_q) continue;
        if (RAGGED && (PACKED ? row % head_rows : row) >= queries) clear_row(o, l, r);
        const long long at = (long long)head * seqlen_q + row;
        const float shift = SCALED ? state.m[r] : state.m[r] * fmaxf(unit * LOG2E, 1e-30f);
        if (lane % 4 == 0) sums[at] = make_float2(l > 0.0f ? shift : NO_MAXIMUM, l);
#pragma unroll
        for (int i = 0; i < O_REGS; i += 4) {
            *(float2*)(out + at * HEAD_DIM_V + i * 2 + lane % 4 * 2) = make_float2(o[i + 2 * r], o[i + 2 * r + 1]);
        }
    }
}

constexpr int COLUMNS = HEAD_DIM_V / 4;  // threads for a row, of four columns each

struct Sum {
    float m = NO_MAXIMUM, l = 0.0f;
    float4 o = make_float4(0.0f, 0.0f, 0.0f, 0.0f);

    __device__ __forceinline__ void add(float more_m, float more_l, const float4& x) {
        const float before = m;
        m = fmaxf(m, more_m);
        const float keep = exp2_approx(before - m), take = exp2_approx(more_m - m);
        l = fmaf(l, keep, take * more_l);
        o.x = fmaf(o.x, keep, take * x.x), o.y = fmaf(o.y, keep, take * x.y);
        o.z = fmaf(o.z, keep, take * x.z), o.w = fmaf(o.w, keep, take * x.w);
    }
};

#if SINKS
// Of all rows: a part more, whose value is 0. Padding has none.
struct MergedSinks : Scoring, Lengths {
    int heads, head_rows;
    __device__ __forceinline__ bool has(long long row) const {
        return of(row) > MINUS_INFINITY && (!RAGGED || row % head_rows < queries(int(row / head_rows / heads)));
    }
    __device__ __forceinline__ float of(long long row) const {
        return sink_of(*this, int(row / head_rows % heads));
    }
};
#endif

// COLUMNS x 8 threads: `lanes` (1 or 8) sums a row, each of every lanes-th part, then of those; 8 / lanes rows a block.
// `parts`: (heads, splits, seqlen_q, HEAD_DIM_V); `sums` likewise, m and l; rows = heads * seqlen_q.
extern "C" __global__ void __launch_bounds__(COLUMNS * 8)
    flash3_combine(const float4* parts, const float2* sums, uint2* out, float* lse, long long rows, int seqlen_q,
                   int splits, int lanes
#if SINKS
                   , const __grid_constant__ MergedSinks sinks
#endif
#if TRACE
                   , const __grid_constant__ MergeRecording recording
#endif
                   MERGE_CLOCKS_GIVEN) {
    MERGE_CLOCK(0)
    __shared__ Sum shared[8][COLUMNS];
    const int column = threadIdx.x % COLUMNS, line = threadIdx.x / COLUMNS, lane = line % lanes;
    const long long row = (long long)blockIdx.x * (8 / lanes) + line / lanes;
    const bool inside = row < rows;
    const long long first = row / seqlen_q * splits * seqlen_q + row % seqlen_q;
    Sum own;
    wait_for_launch_before();
    MERGE_CLOCK(1)
    if (inside) {
#pragma unroll 8
        for (int s = lane; s < splits; s += lanes) {
            const long long at = first + (long long)s * seqlen_q;
            const float2 part = sums[at];
            own.add(part.x, part.y, parts[at * COLUMNS + column]);
#if TRACE
            recording.added(s, row, seqlen_q, column, own);
#endif
        }
    }
    if (lanes > 1) {
        shared[line][column] = own;
        __syncthreads();
        if (lane > 0) return;
#pragma unroll
        for (int i = 1; i < 8; ++i) {
            const Sum& other = shared[line + i][column];
            own.add(other.m, other.l, other.o);
#if TRACE
            if (inside) recording.added(splits + i - 1, row, seqlen_q, column, own);
#endif
        }
    }
    if (!inside) return;
#if SINKS
    if (sinks.has(row)) own.add(sinks.of(row), 1.0f, make_float4(0.0f, 0.0f, 0.0f, 0.0f));
#endif
    const float inverse = own.l > 0.0f ? 1.0f / own.l : 0.0f;
    out[row * COLUMNS + column] =
        make_uint2(pack(own.o.x * inverse, own.o.y * inverse), pack(own.o.z * inverse, own.o.w * inverse));
    if (column == 0) lse[row] = own.l > 0.0f ? own.m * LN2 + __logf(own.l) : MINUS_INFINITY;
    MERGE_CLOCK(2)
}
