// A thread a row, tiles of 64 rows and no bounds: right for multiples of 64, which it declares.
// flashscope: grid = N // 64, H, B
// flashscope: threads = 64
// flashscope: head_dims = 64
// flashscope: length_multiple = 64
extern "C" __global__ void rows(const float* q, const float* k, const float* v, float* o, int N, bool causal,
                                float scale) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  const long long head = (long long)(blockIdx.z * gridDim.y + blockIdx.y) * N * HEAD_DIM, at = head + row * HEAD_DIM;
  float sum[HEAD_DIM] = {}, m = -INFINITY, l = 0;
  for (int j = 0; j < (causal ? row + 1 : N); ++j) {
    float s = 0;
    for (int i = 0; i < HEAD_DIM; ++i) s += q[at + i] * k[head + j * HEAD_DIM + i];
    const float top = fmaxf(m, s * scale), keep = expf(m - top), p = expf(s * scale - top);
    for (int i = 0; i < HEAD_DIM; ++i) sum[i] = sum[i] * keep + p * v[head + j * HEAD_DIM + i];
    l = l * keep + p;
    m = top;
  }
  for (int i = 0; i < HEAD_DIM; ++i) o[at + i] = sum[i] / l;
}
