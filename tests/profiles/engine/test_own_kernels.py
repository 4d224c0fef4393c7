"""A kernel of one's own runs in the worker alone, and whatever it does costs its own point alone."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.registry import find_kernel
from flashscope.kernels.own.references import declared, read_reference
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.plan.read import read_kernels
from flashscope.profiles.plan.request import Request
from flashscope.profiles.wire.events import LogLine, PlanFinished
from flashscope.profiles.worker.child import INDUCTOR_PROCESSES
from tests.end_to_end.program import PYTHONPATH
from tests.matrix import chosen
from tests.profiles.heard import QUICK, Heard, done

WRONG = Path(__file__).with_name("own_wrong.py")
PLAIN = Path(__file__).parents[2] / "kernels" / "own" / "examples" / "plain_numpy.py"
KEEPS = """import numpy as np

SCRATCH = {}


def attend(q, k, v, *, scale):
    if q.shape not in SCRATCH:
        SCRATCH[q.shape] = np.empty((*q.shape[:3], k.shape[2]), np.float32)
    s = SCRATCH[q.shape]
    np.matmul(q, k.swapaxes(-1, -2), out=s)
    s *= np.float32(scale)
    s -= s.max(axis=-1, keepdims=True)
    np.exp(s, out=s)
    return s @ v / s.sum(axis=-1, keepdims=True)
"""
PROBLEM = Problem(seqlen_q=64, seqlen_k=64, head_dim=32, heads=2)
OUTCOMES = {
    "raises": ("failed", "own.raises raised ValueError: matmul: ", "in line 18: return q @ v"),
    "imports_relatively": ("failed", "attempted relative import", "by its name, without dots"),
    "leaves": ("failed", "The worker process ended with exit code 3 while it ran own.leaves at N = 64", ""),
    "exits": ("failed", "own.exits raised SystemExit: enough", 'in line 35: raise SystemExit("enough")'),
    "raises_odd": ("failed", "own.raises_odd raised Odd: enough", 'raise Odd("enough")'),
    "gives_none": ("failed", "returned None for O", "it returns O, or O and LSE"),
    "gives_rows": ("failed", "returned O of shape (1, 2, 64)", "it must be (1, 2, 64, 32)"),
    "gives_float64": ("failed", "returned O in float64", "it must be in float32"),
    "gives_list": ("failed", "returned a list of 1 for O", "must be a numpy.ndarray of shape"),
    "wrong_lse": ("failed", "returned LSE of shape (1, 2, 64, 32)", "it must be (1, 2, 64)"),
    "gives_nan": ("wrong", "O holds NaN", ""),
}

PROGRAM = """
from flashscope.profiles.wire.events import LogLine
from tests.profiles.engine.test_own_kernels import plan_of
from tests.profiles.heard import Heard

heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
heard.engine.run(plan_of("hangs_beside_a_daemon"))
told = heard.until(LogLine, lambda line: line.text.startswith("left behind:"))
print(told.text.split()[-1], flush=True)
heard.until(LogLine, lambda line: False)
"""


def plan_of(*functions: str, protocol: Protocol = QUICK, beside: tuple[str, ...] = ("flash2",)) -> Plan:
    own = tuple(read_reference(f"{WRONG}:{one}", name=f"own.{one}") for one in functions)
    names = tuple(one.name for one in own)
    return Plan(backend="cpu", kernels=(*names, *beside), problems=(PROBLEM,), protocol=protocol, own=own)


@pytest.mark.matrix
def test_each_wrong_function_ends_its_own_point_in_words_and_the_others_go_on(heard: Heard) -> None:
    *failed, right, ours = heard.sweep(plan_of(*OUTCOMES, "right"))
    for state, (status, begins, ends) in zip(failed, OUTCOMES.values(), strict=True):
        assert state.status == status, state
        assert begins in state.reason
        assert ends in state.reason
        assert "\n" not in state.reason
    done(right)
    done(ours)


@pytest.mark.matrix  # it takes seconds
def test_a_function_that_never_ends_is_killed_at_the_deadline(heard: Heard) -> None:
    failed, ours = heard.sweep(plan_of("hangs", protocol=replace(QUICK, deadline_s=3.0)))
    assert failed.status == "timeout"
    done(ours)


def test_a_kernel_may_shape_its_inputs_in_place_and_return_what_cannot_be_written_to(heard: Heard) -> None:
    for state in heard.sweep(plan_of("shapes_its_inputs")):
        done(state)


@pytest.mark.matrix
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks on this system")
def test_copies_of_the_worker_that_a_kernel_forks_end_and_the_kernel_is_measured(heard: Heard) -> None:
    forking, ours = heard.sweep(plan_of("forks"))
    for state in (forking, ours):
        assert len(done(state).samples) == QUICK.repeats
    assert any("a kernel forked" in line.text for line in heard.all(LogLine))


@pytest.mark.matrix  # it takes a second
def test_what_a_kernel_has_started_ends_with_its_worker(heard: Heard) -> None:
    failed, ours = heard.sweep(plan_of("leaves_a_process"))
    assert "ended with exit code 3" in failed.reason
    done(ours)
    heard.drain()
    (told,) = [one.text for one in heard.all(LogLine) if one.text.startswith("left behind:")]
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(told.split()[-1])).wait(timeout=10)


@pytest.mark.torch
def test_defaults_of_pytorch_that_a_file_sets_are_told_and_kept_from_others(
    heard: Heard, tmp_path: Path
) -> None:
    path = tmp_path / "sets.py"
    lines = (
        "import torch",
        "torch.set_grad_enabled(False)",
        "def attend(q, k, v):",
        "    return torch.nn.functional.scaled_dot_product_attention(q, k, v)",
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    own = read_reference(str(path))
    names = (own.name, "torch-math")
    mine, library = heard.sweep(
        Plan(backend="cpu", kernels=names, problems=(PROBLEM,), protocol=QUICK, own=(own,))
    )
    assert "left settings changed: whether PyTorch records gradients" in mine.reason
    done(library)


@chosen("users,processes", [({}, "1"), ({INDUCTOR_PROCESSES: "4"}, "4")], [({}, "1")])
def test_torch_compile_starts_no_processes_unless_the_user_has_chosen(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, users: dict[str, str], processes: str
) -> None:
    monkeypatch.delenv(INDUCTOR_PROCESSES, raising=False)
    for name, value in users.items():
        monkeypatch.setenv(name, value)
    path = tmp_path / "tells.py"
    lines = (
        "import os, numpy",
        "def tells(q, k, v):",
        f"    raise ValueError(os.environ['{INDUCTOR_PROCESSES}'])",
    )
    path.write_text("\n".join(lines), encoding="utf-8")
    own = read_reference(str(path))
    heard = Heard("flashscope.kernels.catalogue.registry:KERNELS")
    try:
        (told,) = heard.sweep(
            Plan(backend="cpu", kernels=(own.name,), problems=(PROBLEM,), protocol=QUICK, own=(own,))
        )
    finally:
        heard.engine.close()
    assert f"raised ValueError: {processes}" in told.reason


@chosen("function", ["leaves_a_thread_at_work", "leaves_a_process_at_work"], {"leaves_a_process_at_work"})
def test_what_works_on_while_others_are_measured_is_refused(heard: Heard, function: str) -> None:
    failed, ours = heard.sweep(plan_of(function))
    assert "worked on for 2 s after its return" in failed.reason
    assert len(done(ours).samples) == QUICK.repeats


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone has processes adopted")
def test_a_daemon_that_works_on_is_refused_ended_with_the_worker_and_told(heard: Heard) -> None:
    failed, ours = heard.sweep(plan_of("leaves_a_daemon_at_work"))
    assert "worked on for 2 s after its return" in failed.reason
    assert len(done(ours).samples) == QUICK.repeats
    heard.drain()
    lines = [line.text for line in heard.all(LogLine)]
    (daemon,) = {int(text.split()[-1]) for text in lines if text.startswith("left behind:")}
    assert any(text.startswith("Ended what a kernel had started") and f"({daemon})" in text for text in lines)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(daemon).wait(timeout=10)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone shows the environment of a process")
@chosen("function", ["crashes_beside_a_daemon", "hangs_beside_a_daemon"], {"crashes_beside_a_daemon"})
def test_a_daemon_ends_though_its_worker_could_not_end_it(heard: Heard, function: str) -> None:
    failed, ours = heard.sweep(plan_of(function, protocol=replace(QUICK, deadline_s=3.0)))
    assert failed.status in {"failed", "timeout"}
    done(ours)
    heard.drain()
    lines = [line.text for line in heard.all(LogLine)]
    (daemon,) = {int(text.split()[-1]) for text in lines if text.startswith("left behind:")}
    assert any(text.startswith("Ended what was left") and f"({daemon})" in text for text in lines)
    with suppress(psutil.NoSuchProcess):
        psutil.Process(daemon).wait(timeout=10)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone shows the environment of a process")
def test_a_daemon_ends_with_the_program_that_is_killed() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, env={"PYTHONPATH": PYTHONPATH}
    ) as program:
        assert program.stdout is not None
        daemon = psutil.Process(int(program.stdout.readline()))
        program.kill()
        daemon.wait(timeout=10)


@pytest.mark.parametrize("passes", ["forward", "backward", "both"])
def test_a_function_in_numpy_is_right_and_has_a_ledger_in_every_pass(heard: Heard, passes: str) -> None:
    own = read_reference(str(PLAIN))
    problem = replace(PROBLEM, passes=passes, causal=True, kv_heads=1)
    plan = Plan(backend="cpu", kernels=(own.name,), problems=(problem,), protocol=QUICK, own=(own,))
    (state,) = heard.sweep(plan)
    measured = done(state)
    assert measured.correctness is not None
    held, peak = (measured.value(key) for key in ("workspace_bytes", "peak_bytes"))
    assert held is not None
    assert peak is not None
    assert held >= 2 * 64 * 64 * 4, "S of both heads at least"
    assert peak >= held


def test_scratch_that_a_function_keeps_from_run_to_run_is_in_its_footprint(
    heard: Heard, tmp_path: Path
) -> None:
    path = tmp_path / "keeps.py"
    path.write_text(KEEPS, encoding="utf-8")
    own = read_reference(str(path))
    longer = replace(PROBLEM, seqlen_q=256, seqlen_k=256)
    plan = Plan(backend="cpu", kernels=(own.name,), problems=(longer,), protocol=QUICK, own=(own,))
    (state,) = heard.sweep(plan)
    held = done(state).value("workspace_bytes")
    assert held is not None
    assert held >= 2 * 256 * 256 * 4, "S of both heads at least"


def test_a_file_that_nobody_named_here_does_not_run(heard: Heard, tmp_path: Path) -> None:
    trace, path = tmp_path / "ran", tmp_path / "planted.py"
    path.write_text(f"import numpy\nopen({str(trace)!r}, 'w')\ndef attend(q, k, v): ...\n", encoding="utf-8")
    plan = Plan(
        backend="cpu",
        kernels=("planted",),
        problems=(PROBLEM,),
        protocol=QUICK,
        own=(declared(str(path)),),
    )
    heard.engine.run(plan)
    ended = heard.until(PlanFinished)
    assert ended.outcome == "failed"
    assert f"--kernel {path}:attend" in ended.reason
    assert not trace.exists()


def test_a_text_that_names_a_file_such_as_a_story_holds_does_not_let_it_run(
    heard: Heard, tmp_path: Path
) -> None:
    path = tmp_path / "told.py"
    path.write_text("import numpy\ndef attend(q, k, v): ...\n", encoding="utf-8")
    (name,) = read_kernels(str(path))
    plan = Request.of("cpu", kernels=(name,), seqlens=(64,)).plan()
    assert [one.name for one in plan.own] == ["told"]
    assert Request.of_plan(plan).plan() == plan
    heard.engine.run(plan)
    assert "which runs only where you name it" in heard.until(PlanFinished).reason


def test_a_session_older_than_a_kernel_of_ours_of_that_name_opens_and_runs_nothing(heard: Heard) -> None:
    own = declared(str(PLAIN), name="flash2")
    plan = Plan(backend="cpu", kernels=("flash2",), problems=(PROBLEM,), protocol=QUICK, own=(own,))
    heard.engine.run(plan)
    assert "is here by now" in heard.until(PlanFinished).reason
    assert find_kernel("flash2").own is None


def test_a_file_that_has_changed_since_it_was_named_does_not_run(heard: Heard, tmp_path: Path) -> None:
    path = tmp_path / "edited.py"
    path.write_text(PLAIN.read_text(encoding="utf-8"), encoding="utf-8")
    own = read_reference(str(path))
    path.write_text("import numpy\ndef attend(q, k, v): ...\n", encoding="utf-8")
    heard.engine.run(
        Plan(backend="cpu", kernels=(own.name,), problems=(PROBLEM,), protocol=QUICK, own=(own,))
    )
    ended = heard.until(PlanFinished)
    assert f"sha256 {own.sha256[:12]}" in ended.reason
    path.unlink()
    heard.engine.run(
        Plan(backend="cpu", kernels=(own.name,), problems=(PROBLEM,), protocol=QUICK, own=(own,))
    )
    assert "is not there" in heard.until(PlanFinished).reason


@pytest.mark.matrix
def test_a_length_that_a_kernel_does_not_declare_to_take_is_unsupported_in_its_own_name(
    heard: Heard, tmp_path: Path
) -> None:
    path = tmp_path / "tiled.py"
    text = PLAIN.read_text(encoding="utf-8").replace('"idea"', '"length_multiple": 48, "idea"')
    path.write_text(text, encoding="utf-8")
    own = read_reference(str(path))
    problems = (PROBLEM, replace(PROBLEM, seqlen_q=96, seqlen_k=96))
    plan = Plan(backend="cpu", kernels=(own.name,), problems=problems, protocol=QUICK, own=(own,))
    refused, taken = heard.sweep(plan)
    assert refused.status == "unsupported"
    assert refused.reason == "tiled takes sequence lengths that are multiples of 48 alone."
    done(taken)
