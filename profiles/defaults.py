"""What a sweep measures when nothing else is said, by backend."""

from kernels.problem import Backend, Dtype
from profiles.seqlens import parse_seqlens

SEQLENS: dict[Backend, tuple[int, ...]] = {
    "cuda": parse_seqlens("256:16384"),
    "cpu": parse_seqlens("256:2048"),
}
DTYPES: dict[Backend, Dtype] = {"cuda": "float16", "cpu": "float32"}
HEADS: dict[Backend, int] = {"cuda": 16, "cpu": 2}
