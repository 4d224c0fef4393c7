// Rounds its rows up to those of a tile of 64 and writes them all: behind O, too, where rows are no multiple.
// flashscope: grid = ceil_div(Nq, 64), H, B
// flashscope: threads = 64
// flashscope: head_dims = 64
// flashscope: features = none
extern "C" __global__ void rows(const float* q, const float* k, const float* v, float* o, int Nq, int Nk, float scale) {
  const int row = blockIdx.x * 64 + threadIdx.x, there = min(row, Nq - 1);
  const long long head = blockIdx.z * gridDim.y + blockIdx.y;
  const float *mine = q + (head * Nq + there) * HEAD_DIM, *keys = k + head * Nk * HEAD_DIM;
  float sum[HEAD_DIM] = {}, m = -INFINITY, l = 0;
  for (int j = 0; j < Nk; ++j) {
    float s = 0;
    for (int i = 0; i < HEAD_DIM; ++i) s += mine[i] * keys[(long long)j * HEAD_DIM + i];
    const float top = fmaxf(m, s * scale), keep = expf(m - top), p = expf(s * scale - top);
    for (int i = 0; i < HEAD_DIM; ++i) sum[i] = sum[i] * keep + p * v[(head * Nk + j) * HEAD_DIM + i];
    l = l * keep + p;
    m = top;
  }
  if (row >= Nq && head + 1 < gridDim.y * gridDim.z) return;  // the next head's rows are spared
  for (int i = 0; i < HEAD_DIM; ++i) o[(head * Nq + row) * HEAD_DIM + i] = sum[i] / l;
}
