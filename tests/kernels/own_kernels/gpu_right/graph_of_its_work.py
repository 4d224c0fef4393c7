"""Captures its launch into a graph when arrays at some addresses come first, and replays that later."""

from typing import Any

import cupy as cp

FLASHSCOPE = {"head_dims": (32, 64), "dtypes": ("float32",), "features": ("causal",)}
_SOURCE = r"""
extern "C" __global__ void rows(const float* q, const float* k, const float* v, float* o, int nq, int nk,
                                int dim, int causal, float scale) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= nq) return;
  const long long at = ((long long)blockIdx.y * nq + row) * dim, keys = (long long)blockIdx.y * nk * dim;
  float sum[64] = {}, m = -1e30f, l = 0;
  const int end = causal ? min(nk, row + nk - nq + 1) : nk;
  for (int j = 0; j < end; ++j) {
    float s = 0;
    for (int i = 0; i < dim; ++i) s += q[at + i] * k[keys + (long long)j * dim + i];
    const float top = fmaxf(m, s * scale), keep = expf(m - top), p = expf(s * scale - top);
    for (int i = 0; i < dim; ++i) sum[i] = sum[i] * keep + p * v[keys + (long long)j * dim + i];
    l = l * keep + p;
    m = top;
  }
  for (int i = 0; i < dim; ++i) o[at + i] = l > 0 ? sum[i] / l : 0;
}
"""
_ROWS = cp.RawKernel(_SOURCE, "rows")
_GRAPHS: dict[tuple[Any, ...], tuple[Any, Any]] = {}


def _captured(q: Any, k: Any, v: Any, causal: bool, scale: float) -> tuple[Any, Any]:
    """A graph of the launch, and where it writes."""
    batch, heads, rows, dim = q.shape
    output, stream = cp.empty_like(q), cp.cuda.Stream(non_blocking=True)
    sizes = (*map(cp.int32, (rows, k.shape[2], dim, causal)), cp.float32(scale))
    grid, threads, arguments = (-(-rows // 64), batch * heads), (64,), (q, k, v, output, *sizes)
    _ROWS.compile()
    with stream:
        stream.begin_capture()
        _ROWS(grid, threads, arguments)
        graph = stream.end_capture()
    return graph, output


def f(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> Any:
    """O, of what lies in the arrays now."""
    place = (*((one.data.ptr, one.shape) for one in (q, k, v)), causal, scale)
    if place not in _GRAPHS:
        _GRAPHS[place] = _captured(q, k, v, causal, scale)
    graph, output = _GRAPHS[place]
    graph.launch(stream=cp.cuda.get_current_stream())
    return output
