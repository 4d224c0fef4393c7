"""Files of kernels of a user's own, as tests of the window write them."""

from pathlib import Path

PLAIN = '''"""Plain attention."""

import numpy as np

FLASHSCOPE = {{"arrays": "numpy", "idea": "{idea}", "features": ("causal",)}}
{beside}

def attend(q, k, v, *, causal, scale):
    s = q @ k.swapaxes(-1, -2) * scale
    if causal:
        rows, columns = s.shape[-2:]
        s[..., np.triu(np.ones((rows, columns), bool), columns - rows + 1)] = -np.inf
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return (p / p.sum(axis=-1, keepdims=True)) @ v
'''
CUDA = """// flashscope: idea = one thread a row
// flashscope: grid = ceil_div(Nq, 64), H, B
// flashscope: threads = 64
// flashscope: head_dims = 32, 64, 128
extern "C" __global__ void rows(const float* q, const float* k, const float* v, float* o, float* lse,
                                int seqlen_q, int seqlen_k, float scale, bool causal) {}
"""


def python_file(folder: Path, name: str = "mine", *, idea: str = "whole matrices", beside: str = "") -> Path:
    """A kernel of NumPy arrays; `beside` runs where the file does."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(PLAIN.format(idea=idea, beside=beside))
    return path


def cuda_file(folder: Path, name: str = "rows") -> Path:
    """A kernel of raw CUDA, which does nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.cu"
    path.write_text(CUDA)
    return path


def package(folder: Path, *, beside: str = "", entry: str = "offering.fast:attend") -> Path:
    """An installed package that offers the kernel `offered`, once the folder is on the path; its module."""
    module = folder / "offering" / "fast.py"
    module.parent.mkdir(parents=True)
    (module.parent / "__init__.py").write_text("raise SystemExit\n")
    module.write_text(PLAIN.format(idea="from a package", beside=beside))
    told = folder / "offering-1.0.dist-info"
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (told / "entry_points.txt").write_text(f"[flashscope.kernels]\noffered = {entry}\n")
    return module
