"""`main.py gradients` walks a backward pass tile by tile, and says how far its gradients are off."""

import pytest

from flashscope.kernels.cpu.backward_trace import record
from flashscope.kernels.workload.backward_trace import BackwardTraceRequest
from flashscope.kernels.workload.problem import Problem
from tests.end_to_end import program

SMALL = ("--backend", "cpu", "--heads", "2", "--kv-heads", "1", "--seqlen", "48", "--head-dim", "16")


def test_it_prints_a_line_for_each_tile_that_is_kept_and_how_far_the_gradients_are_off() -> None:
    done = program.inside("gradients", "flash2", *SMALL, "--causal")
    assert done.returncode == 0, done.stderr
    problem, kernel, titles, *tiles, last = done.stdout.splitlines()
    assert problem.startswith("N = 48, d = 16, 2 heads, causal, float32, on ")
    assert kernel.startswith("flash2, K/V head 0, tiles of 16 x 16: ")
    assert titles.split()[:4] == ["tile", "head", "i", "j"]
    kept = [(i, j) for j in range(3) for i in range(j, 3)]
    expected = [[str(head), str(i), str(j)] for head in range(2) for i, j in kept]
    assert [line.split()[1:4] for line in tiles] == expected
    assert last.startswith("largest differences from the exact gradients: dq ")


@pytest.mark.matrix  # it takes seconds
def test_one_document_has_what_the_kernels_own_steps_leave() -> None:
    done = program.document(program.run("gradients", "flash1", *SMALL, "--block", "32", "--json"))
    problem = Problem(seqlen_q=48, seqlen_k=48, heads=2, kv_heads=1, head_dim=16, passes="backward")
    trace = record(BackwardTraceRequest(problem=problem, kernel="flash1", block_q=32, block_k=32))
    assert [[one["head"], one["i"], one["j"]] for one in done["tiles"]] == trace.tile.numpy().tolist()
    found = [one["sum_p"] for one in done["tiles"]]
    assert found == pytest.approx(trace.p.numpy().sum(axis=(1, 2)).tolist(), rel=1e-5)
    assert done["tiles"][0]["delta"] == pytest.approx(trace.delta.numpy()[0].tolist(), rel=1e-5)
    assert max(done["errors"].values()) < 1e-4


@pytest.mark.matrix  # it takes seconds
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("flash3", *SMALL), "not implemented on the cpu backend"),
        (("flash2", *SMALL, "--head", "99"), "There is no K/V head 99 to look at"),
        (("flash2", *SMALL, "--seqlen", "100k"), "tiles"),
    ],
)
def test_what_cannot_be_traced_is_a_usage_error_with_the_reason(words: tuple[str, ...], told: str) -> None:
    done = program.run("gradients", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
