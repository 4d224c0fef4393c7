"""Kernels of one's own through a real engine and worker: cheats are told, right ones are not suspected."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.kernels.own.references import read_reference
from flashscope.kernels.workload.problem import Passes, Problem
from flashscope.profiles.plan.plan import Plan, Protocol
from flashscope.profiles.results.model.session import PointState
from flashscope.profiles.results.model.trust import trust_of
from flashscope.profiles.wire.measurement import SUSPECTED
from tests.kernels import own_kernels
from tests.matrix import chosen
from tests.profiles.heard import Heard, done

HERE = Path(own_kernels.__file__).parent
IN_TURNS = Protocol(warmup=1, repeats=4, drift_check=False)
MASKED = {"causal_at_the_top_left", "lse_before_mask"}  # right without a mask
REFUSED = {
    "caches_key_products": "did not change when K was changed in place",
    "coarse_when_long_and_worn": "though the first run was right: O",
    "coarse_ever_after": "In a later run, though the first ones were right: O",
    "computes_when_looked_at": "_Promise for O; O must be a numpy.ndarray",
    "fills_after_return": "works on after its return",
    "keeps_first_arrays": "With arrays of the same shapes at other addresses, it was wrong",
    "leaves_early_when_hurried": "Called again at once it gave its last answer",
    "leaves_settings_changed": "settings changed: the garbage collector",
    "lse_before_mask": "LSE differs from the float64 oracle",
    "nan_in_few_rows": "O holds NaN",
    "patches_clocks": "It replaced functions of the process that judges it: time.",
    "patches_numpy": "It replaced functions of the process that judges it: numpy.",
    "puts_inputs_back": "It wrote to K",
    "reads_callers_frames": "it looks at its callers",
    "remembers_by_address": "it remembers by address",
    "remembers_by_sampled_values": "it remembers by samples of its inputs",
    "returns_query_memory": "It wrote to Q",
    "right_where_sampled": "O differs from the float64 oracle",
    "turns_heads_in_shared_output": "50% of the rows of O were those of an earlier run",
    "writes_behind_inputs": "It wrote behind K",
}
SEEN_SOONER = {"leaves_early_when_hurried": "did not change when Q, K and V were changed in place"}
"""What gives a cheat away before its usual reason does, where its own run took long beside other work."""
DOUBTED = {
    "causal_at_the_top_left": "at 67 queries and 131 keys, which it takes, it is wrong",
    "leaves_light_keys_out": "with one key up to 14 above all others it is wrong",
    "remembers_by_content": "it remembers by content",
    "right_at_usual_scale": "with scores of about 10,000 it is wrong",
    "right_beyond_64_keys": "at 63 queries and 63 keys, which it takes, it is wrong",
    "takes_no_scale": "at a scale of 0.0884, which it takes, it is wrong",
}
AT_CHECKS = {
    "answers_signals": "settings changed: what is called when a signal comes",
    "answers_the_collector": "settings changed: what is called when garbage is collected",
    "bounds_memory": "settings changed: the memory and time that the system lets it have",
    "clock_that_mends_itself": "ms by another clock",
    "code_in_place": "CpuBench.time_ms",
    "computes_when_read": "flashscope.kernels.library.own.function.FunctionLaunch",
    "exits_when_timed": "ended with exit code 3",
    "forgets_its_peak": "It set back what Python counts of its memory",
    "instruments_in_frames": "It changed _sweep of the instruments",
    "lazy_in_turns": ", though the first run was right: O",
    "lse_after_return": "works on after its return",
    "puts_inputs_back_late": "It wrote to V",
    "shrinks_buffers": "settings changed: the size of NumPy's buffers",
    "slows_others": "flashscope.kernels.cpu.flash2.prepare",
    "steals_from_the_oracle": "takes an answer from elsewhere",
    "subclass_called_numpy": "O must be a numpy.ndarray",
    "works_ahead_of_runs": "works ahead of",
    "works_in_others_turns": "it takes the time of what is measured beside it",
    "writes_before_inputs": "It wrote before Q",
}
LENGTHS = {"steals_from_the_oracle": 192}  # all rows compared
TURNS = {
    "works_ahead_of_runs": 12,
    "works_in_others_turns": 8,
}  # so that on a busy machine, too, some of them leave it the time
EVERY_RUN = {"fills_after_return", "patches_numpy", "remembers_by_content"}
RIGHT = sorted((HERE / "right").glob("*.py"))
WITH_BACKWARD = """
import numpy as np


def f(q, k, v, *, scale):
    scores = q @ k.swapaxes(-1, -2) * np.float32(scale)
    peak = scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores - peak)
    total = weights.sum(axis=-1, keepdims=True)
    return weights @ v / total, (peak + np.log(total))[..., 0]


def f_backward(q, k, v, output, lse, grad_output, *, scale):
    p = np.exp(q @ k.swapaxes(-1, -2) * np.float32(scale) - lse[..., None])
    delta = (output * grad_output).sum(axis=-1, keepdims=True)
    ds = p * (grad_output @ v.swapaxes(-1, -2) - delta) * np.float32(scale)
    return ds @ k, ds.swapaxes(-1, -2) @ q, p.swapaxes(-1, -2) @ grad_output
"""
LEAVES_ONE = """
import threading

import numpy as np

BEGUN = threading.Event()


def spin():
    BEGUN.wait()
    while True:
        sum(range(10000))


threading.Thread(target=spin, daemon=True).start()


def f(q, k, v, *, scale):
    BEGUN.set()
    raise RuntimeError("it has left a thread")
"""
INSTANCE = "\n\ndef g(q, k, v, *, causal, scale):\n    return f(q, k, v, causal=causal, scale=scale)\n"


def named(path: Path, folder: Path) -> Path:
    """The file, with a function around an object that can be called, as a file has to declare one."""
    if path.stem != "class_instance":
        return path
    made = folder / path.name
    made.write_text(f"{path.read_text(encoding='utf-8')}{INSTANCE}", encoding="utf-8")
    return made


def marks_of(path: Path, causal: bool) -> list[pytest.MarkDecorator]:
    """Every run takes one of them."""
    torch = [pytest.mark.torch] if path.stem.startswith("torch_") else []
    return torch if (path.stem, causal) == ("recycled_output", True) else [*torch, pytest.mark.matrix]


def beside_flash2(
    heard: Heard, file: Path, *, protocol: Protocol = IN_TURNS, causal: bool = False, seqlen: int = 320
) -> list[PointState]:
    """The ends of a kernel of one's own and of flash2, sampled in turns."""
    own = read_reference(str(file))
    problem = Problem(seqlen_q=seqlen, seqlen_k=seqlen, heads=4, head_dim=32, causal=causal)
    kernels = (own.name, "flash2")
    plan = Plan(backend="cpu", kernels=kernels, problems=(problem,), protocol=protocol, own=(own,))
    return heard.sweep(plan)


def assert_peer_is_whole(peer: PointState, protocol: Protocol = IN_TURNS) -> None:
    assert len(done(peer).samples) == protocol.repeats
    assert SUSPECTED not in done(peer).figures


def suspected(point: PointState) -> str:
    figure = done(point).figures.get(SUSPECTED)
    return figure.source if figure else ""


def test_all_cheats_are_asked_for() -> None:
    assert {*REFUSED, *DOUBTED} == {path.stem for path in (HERE / "cheats").glob("*.py")}
    assert {*AT_CHECKS} == {path.stem for path in (HERE / "cheats_at_checks").glob("*.py")}
    assert len(RIGHT) == 20


@chosen("name", REFUSED, EVERY_RUN)
def test_a_cheat_is_refused_with_what_was_seen(heard: Heard, name: str) -> None:
    cheat, peer = beside_flash2(heard, HERE / "cheats" / f"{name}.py", causal=name in MASKED)
    assert cheat.status in {"failed", "wrong"}
    assert REFUSED[name] in cheat.reason or SEEN_SOONER.get(name, REFUSED[name]) in cheat.reason
    assert_peer_is_whole(peer)


@chosen("name", DOUBTED, EVERY_RUN)
def test_a_cheat_whose_answers_are_right_is_doubtful_with_what_was_seen(heard: Heard, name: str) -> None:
    cheat, peer = beside_flash2(heard, HERE / "cheats" / f"{name}.py", causal=name in MASKED)
    trust = trust_of(done(cheat))
    assert trust is not None
    assert trust.word == "doubtful"
    assert any(DOUBTED[name] in reason for reason in trust.reasons), trust.reasons
    assert_peer_is_whole(peer)


@chosen("name", AT_CHECKS, {"clock_that_mends_itself"})
def test_a_cheat_at_the_checks_is_refused_and_costs_its_own_point(heard: Heard, name: str) -> None:
    file, seqlen = HERE / "cheats_at_checks" / f"{name}.py", LENGTHS.get(name, 320)
    turns = replace(IN_TURNS, repeats=TURNS.get(name, IN_TURNS.repeats))
    cheat, peer = beside_flash2(heard, file, protocol=turns, seqlen=seqlen)
    assert cheat.status in {"failed", "wrong"}
    assert AT_CHECKS[name] in cheat.reason
    assert_peer_is_whole(peer, turns)


@pytest.mark.parametrize(
    ("path", "causal"),
    [
        pytest.param(path, causal, id=f"{path.stem}{' causal' * causal}", marks=marks_of(path, causal))
        for path in RIGHT
        for causal in (False, True)
    ],
)
def test_a_right_kernel_is_not_suspected(heard: Heard, path: Path, causal: bool, tmp_path: Path) -> None:
    mine, peer = beside_flash2(heard, named(path, tmp_path), causal=causal)
    assert suspected(mine) == ""
    assert len(done(mine).samples) == IN_TURNS.repeats
    assert_peer_is_whole(peer)


@pytest.mark.matrix
def test_in_a_warm_series_a_right_kernel_is_not_suspected(heard: Heard) -> None:
    warm = Protocol(warmup=1, repeats=4, drift_check=False, cold=False)
    mine, peer = beside_flash2(heard, HERE / "right" / "recycled_output.py", protocol=warm)
    assert suspected(mine) == ""
    assert_peer_is_whole(peer)


@pytest.mark.matrix
@pytest.mark.parametrize("passes", ["backward", "both"])
def test_gradients_of_a_right_kernel_are_timed_on_new_ones(
    heard: Heard, passes: Passes, tmp_path: Path
) -> None:
    file = tmp_path / "with_backward.py"
    file.write_text(WITH_BACKWARD, encoding="utf-8")
    own = read_reference(str(file))
    problem = Problem(seqlen_q=48, seqlen_k=48, heads=2, head_dim=16, passes=passes)
    plan = Plan(
        backend="cpu", kernels=(own.name, "flash2"), problems=(problem,), protocol=IN_TURNS, own=(own,)
    )
    mine, peer = heard.sweep(plan)
    assert suspected(mine) == ""
    assert_peer_is_whole(peer)


def test_gradients_that_are_remembered_by_samples_of_theirs_are_refused(heard: Heard, tmp_path: Path) -> None:
    file, kept = tmp_path / "keeps_gradients.py", "    return ds @ k, ds"
    assert kept in WITH_BACKWARD
    remembers = "    seen = float(grad_output[0, 0, 0, 0])\n    if seen in KEPT:\n        return KEPT[seen]\n"
    body = WITH_BACKWARD.replace("    p = np.exp(q @", f"{remembers}    p = np.exp(q @")
    keeps = body.replace(kept, "    KEPT[seen] = ds @ k, ds") + "    return KEPT[seen]\n"
    file.write_text(f"KEPT = {{}}\n{keeps}", encoding="utf-8")
    own = read_reference(str(file))
    problem = Problem(seqlen_q=48, seqlen_k=48, heads=2, head_dim=16, passes="backward")
    plan = Plan(
        backend="cpu", kernels=(own.name, "flash2"), problems=(problem,), protocol=IN_TURNS, own=(own,)
    )
    cheat, peer = heard.sweep(plan)
    assert "did not change when one row of dO was changed in place" in cheat.reason
    assert_peer_is_whole(peer)


KEEPS_OUTPUT = """
KEPT = {}


def f(q, k, v, *, scale):
    place = q.ctypes.data, k.ctypes.data, v.ctypes.data
    if place not in KEPT:
        KEPT[place] = attend(q, k, v, scale=scale)
    return tuple(array.copy() for array in KEPT[place])
"""
KEEPS_WEIGHTS = """
    place = q.ctypes.data, k.ctypes.data
    if place not in KEPT:
        KEPT[place] = np.exp(q @ k.swapaxes(-1, -2) * np.float32(scale) - lse[..., None])
    p = KEPT[place]
"""


@pytest.mark.matrix  # it takes a second
@pytest.mark.parametrize("passes", ["backward", "both"])
def test_what_a_pass_keeps_of_q_and_k_for_later_runs_is_wrong_in_timed_ones(
    heard: Heard, passes: Passes, tmp_path: Path
) -> None:
    file, weights = (
        tmp_path / "keeps.py",
        "\n    p = np.exp(q @ k.swapaxes(-1, -2) * np.float32(scale) - lse[..., None])\n",
    )
    assert weights in WITH_BACKWARD
    keeps_weights = "KEPT = {}\n" + WITH_BACKWARD.replace(weights, KEEPS_WEIGHTS)
    keeps_output = WITH_BACKWARD.replace("def f(", "def attend(") + KEEPS_OUTPUT
    file.write_text(keeps_weights if passes == "backward" else keeps_output, encoding="utf-8")
    own = read_reference(str(file) if passes == "backward" else f"{file}:f")
    problem = Problem(seqlen_q=48, seqlen_k=48, heads=2, head_dim=16, passes=passes)
    plan = Plan(
        backend="cpu", kernels=(own.name, "flash2"), problems=(problem,), protocol=IN_TURNS, own=(own,)
    )
    cheat, peer = heard.sweep(plan)
    assert cheat.status == "wrong"
    assert "timed run" in cheat.reason
    assert_peer_is_whole(peer)


@pytest.mark.matrix
def test_what_is_seen_at_another_size_is_told_with_the_size_and_a_remedy(
    heard: Heard, tmp_path: Path
) -> None:
    file, right = tmp_path / "spills.py", (HERE / "right" / "einsum.py").read_text(encoding="utf-8")
    spill = "    q.base[-1] ^= k.shape[2] == 63\n"
    shape = "    batch, heads, rows, head_dim = q.shape\n"
    assert shape in right
    file.write_text(right.replace(shape, shape + spill), encoding="utf-8")
    cheat, peer = beside_flash2(heard, file)
    assert cheat.reason.startswith("At 63 queries and 63 keys, which it takes: It wrote behind Q: 1 bytes")
    assert "length_multiple = ..." in cheat.reason
    assert_peer_is_whole(peer)


@pytest.mark.matrix
def test_without_a_comparison_the_process_is_watched_all_the_same(heard: Heard) -> None:
    unverified = replace(IN_TURNS, verify=False)
    cheat, peer = beside_flash2(heard, HERE / "cheats" / "patches_clocks.py", protocol=unverified)
    assert REFUSED["patches_clocks"] in cheat.reason
    assert_peer_is_whole(peer)


@pytest.mark.matrix
def test_of_two_kernels_of_ones_own_the_honest_one_is_sampled_though_the_other_is_caught_in_its_turns(
    heard: Heard,
) -> None:
    files = (HERE / "cheats_at_checks" / "clock_that_mends_itself.py", HERE / "right" / "einsum.py")
    cheat, honest = own = tuple(read_reference(str(file)) for file in files)
    problem = Problem(seqlen_q=320, seqlen_k=320, heads=4, head_dim=32)
    kernels = (cheat.name, honest.name, "flash2")
    plan = Plan(backend="cpu", kernels=kernels, problems=(problem,), protocol=IN_TURNS, own=own)
    caught, mine, peer = heard.sweep(plan)
    assert "by another clock" in caught.reason
    for one in (mine, peer):
        assert_peer_is_whole(one)
        assert [sample.round for sample in done(one).samples] == [0, 1, 2, 3]


def test_a_backward_pass_that_writes_to_what_its_forward_pass_left_is_refused(
    heard: Heard, tmp_path: Path
) -> None:
    file = tmp_path / "with_backward.py"
    spoils = WITH_BACKWARD.replace("    ds = p", "    output[...] = 0\n    ds = p")
    file.write_text(spoils, encoding="utf-8")
    own = read_reference(f"{file}:f")
    problem = Problem(seqlen_q=64, seqlen_k=64, heads=2, head_dim=32, passes="backward")
    plan = Plan(backend="cpu", kernels=(own.name,), problems=(problem,), protocol=IN_TURNS, own=(own,))
    (point,) = heard.sweep(plan)
    assert (point.status, point.reason) == ("failed", "It wrote to O, which it was given to read.")


def test_threads_that_another_kernel_has_left_are_not_said_to_be_of_this_one(
    heard: Heard, tmp_path: Path
) -> None:
    early, late = tmp_path / "leaves_one.py", tmp_path / "right.py"
    early.write_text(LEAVES_ONE, encoding="utf-8")
    late.write_text(WITH_BACKWARD, encoding="utf-8")
    own = (read_reference(str(early)), read_reference(f"{late}:f"))
    problem = Problem(seqlen_q=64, seqlen_k=64, heads=2, head_dim=32)
    names = tuple(one.name for one in own)
    plan = Plan(backend="cpu", kernels=names, problems=(problem,), protocol=IN_TURNS, own=own)
    _, right = heard.sweep(plan)
    assert "were at work before it ran" in right.reason
