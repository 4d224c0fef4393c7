// What a rank makes of blocks of keys (kernels/context_parallel): O and LSE of one block taken into those of the blocks
// before, and gradients of one block added to float32 sums. A part has the rows from `first` on, of `all_rows` a head.
#include "element.cuh"
#include "scalar.cuh"

constexpr int LANES = 32, VECTORS = HEAD_DIM / VECTOR;

// Where a warp's row of a part is among all rows; -1 beyond the last. `lines`: rows of all heads.
__device__ __forceinline__ long long row_of_all(long long line, long long lines, int rows, int first, int all_rows) {
    return line < lines ? line / rows * all_rows + first + line % rows : -1;
}

// LSE = ln(e^LSE_a + e^LSE_b), O = e^(LSE_a - LSE) O_a + e^(LSE_b - LSE) O_b; a warp a row.
extern "C" __global__ void __launch_bounds__(256)
    merge_rows(const element* part, const float* part_lse, float* output, float* lse, long long lines, int rows, int first,
               int all_rows) {
    const int lane = threadIdx.x % LANES;
    const long long line = (long long)blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    const long long at = row_of_all(line, lines, rows, first, all_rows);
    if (at < 0) return;
    const float before = lse[at], more = part_lse[line], highest = fmaxf(before, more);
    if (highest == MINUS_INFINITY) return;  // it has met no key yet
    const float keep = exp2_approx((before - highest) * LOG2E), take = exp2_approx((more - highest) * LOG2E);
    const float inverse = 1.0f / (keep + take);
    __syncwarp();  // all lanes have read LSE
    if (lane == 0) lse[at] = highest + log2_approx(keep + take) * LN2;
    for (int column = lane; column < VECTORS; column += LANES) {
        const Vector x = load_vector(part + (line * VECTORS + column) * VECTOR);
        float* o = output + (at * VECTORS + column) * VECTOR;
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) o[i] = (o[i] * keep + to_float(x.x[i]) * take) * inverse;
    }
}

// sums += part; a warp a row.
extern "C" __global__ void __launch_bounds__(256)
    add_rows(const element* part, float* sums, long long lines, int rows, int first, int all_rows) {
    const long long line = (long long)blockIdx.x * (blockDim.x / LANES) + threadIdx.x / LANES;
    const long long at = row_of_all(line, lines, rows, first, all_rows);
    if (at < 0) return;
    for (int column = threadIdx.x % LANES; column < VECTORS; column += LANES) {
        const Vector x = load_vector(part + (line * VECTORS + column) * VECTOR);
        float* sum = sums + (at * VECTORS + column) * VECTOR;
#pragma unroll
        for (int i = 0; i < VECTOR; ++i) sum[i] += to_float(x.x[i]);
    }
}
