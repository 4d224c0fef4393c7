"""A raw CUDA kernel of one's own that does not compile, launch, stay in its memory or end: told in words."""

from pathlib import Path

import pytest

from flashscope.kernels.own.references import read_reference
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from tests.profiles.heard import Heard, done

pytestmark = pytest.mark.gpu
PROTOCOL = Protocol(warmup=0, repeats=3, deadline_s=4.0, drift_check=False)
PROBLEM = Problem(seqlen_q=256, seqlen_k=256, heads=2, head_dim=64)
SOURCE = """// flashscope: grid = {grid}
// flashscope: threads = {threads}
// flashscope: shared = {shared}
// flashscope: features = none
extern "C" __global__ void {bounds} rows(const float* q, const float* k, const float* v, float* o,
                                int Nq, float scale) {{
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  {body}
}}
"""
USUAL = {
    "grid": "ceil_div(Nq, 64), H, B",
    "threads": "64",
    "shared": "0",
    "bounds": "",
    "body": "o[row] = q[row];",
}
ERRORS = {
    "no_code": (
        {"body": "o[row] = q[rwo];"},
        'no_code.cu, line 8: identifier "rwo" is undefined: o[row] = q[rwo];',
    ),
    "much_shared": (
        {"shared": "1024 * 1024"},
        "a block asks for 1,048,576 bytes of shared memory; this GPU gives",
    ),
    "many_threads": ({"threads": "64, 64"}, "a block has 64 × 64 = 4,096 threads; 1,024 is the most"),
    "over_bounds": (
        {"bounds": "__launch_bounds__(32)"},
        "a block has 64 threads; its __launch_bounds__, or the registers of each thread, let in 32 at most",
    ),
    "no_blocks": ({"grid": "Nq // 1024"}, "its grid is 0 blocks of 64 threads, which launches nothing"),
    "far_away": (
        {"body": "o[row] = q[(long long)row << 40];"},
        "it read or wrote memory that is not its own",
    ),
    "crooked": ({"body": "*(float4*)(o + 1) = *(float4*)(q + 1);"}, "no multiple of what it moves at once"),
    "trap": (
        {"body": "if (Nq) __trap();"},
        ("it ran an instruction that this GPU does not have", "the GPU broke it off"),
    ),
    "wrong": ({}, "O differs from the float64 oracle"),
}


def written(folder: Path, name: str, **changed: str) -> str:
    file = folder / f"{name}.cu"
    file.write_text(SOURCE.format(**(USUAL | changed)), encoding="utf-8")
    return str(file)


def test_each_error_of_a_raw_kernel_costs_its_own_point_and_is_told_in_words(
    heard: Heard, tmp_path: Path
) -> None:
    own = tuple(read_reference(written(tmp_path, name, **changed)) for name, (changed, _) in ERRORS.items())
    names = tuple(one.name for one in own)
    plan = Plan(backend="cuda", kernels=(*names, "simt"), problems=(PROBLEM,), protocol=PROTOCOL, own=own)
    *failed, ours = heard.sweep(plan)
    for state, (_, words) in zip(failed, ERRORS.values(), strict=True):
        assert any(one in state.reason for one in (words if isinstance(words, tuple) else (words,))), state
        assert "\n" not in state.reason
    done(ours)


def test_a_raw_kernel_that_never_ends_is_given_up_at_its_deadline(heard: Heard, tmp_path: Path) -> None:
    endless = "volatile int* at = (volatile int*)o; *at = 1; while (*at) *at = row + 1;"
    own = read_reference(written(tmp_path, "endless", body=endless))
    plan = Plan(
        backend="cuda", kernels=(own.name, "simt"), problems=(PROBLEM,), protocol=PROTOCOL, own=(own,)
    )
    failed, ours = heard.sweep(plan)
    assert failed.status == "timeout"
    assert "its deadline of" in failed.reason
    done(ours)
