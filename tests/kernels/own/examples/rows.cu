// One thread a row: plain attention with the online softmax.
// flashscope: idea = one thread a row, online softmax in registers
// flashscope: grid = ceil_div(Nq, 64), H, B
// flashscope: threads = 64
// flashscope: head_dims = 32, 64, 128
extern "C" __global__ void __launch_bounds__(64) rows(
    const float* __restrict__ q, const float* __restrict__ k, const float* __restrict__ v,
    float* __restrict__ o, float* __restrict__ lse,
    int seqlen_q, int seqlen_k, int group, float scale, bool causal) {
  const int row = blockIdx.x * 64 + threadIdx.x, head = blockIdx.y, heads = gridDim.y, b = blockIdx.z;
  if (row >= seqlen_q) return;
  const long long at = ((long long)(b * heads + head) * seqlen_q + row) * HEAD_DIM;
  const long long keys = (long long)(b * (heads / group) + head / group) * seqlen_k * HEAD_DIM;
  float acc[HEAD_DIM] = {}, m = -INFINITY, l = 0;
  const int end = causal ? min(seqlen_k, row + seqlen_k - seqlen_q + 1) : seqlen_k;
  for (int j = 0; j < end; ++j) {
    float s = 0;
    for (int i = 0; i < HEAD_DIM; ++i) s += q[at + i] * k[keys + (long long)j * HEAD_DIM + i];
    s *= scale;
    const float top = fmaxf(m, s), keep = expf(m - top), p = expf(s - top);
    for (int i = 0; i < HEAD_DIM; ++i) acc[i] = acc[i] * keep + p * v[keys + (long long)j * HEAD_DIM + i];
    l = l * keep + p;
    m = top;
  }
  for (int i = 0; i < HEAD_DIM; ++i) o[at + i] = l > 0 ? acc[i] / l : 0;
  lse[(long long)(b * heads + head) * seqlen_q + row] = l > 0 ? m + logf(l) : -INFINITY;
}
