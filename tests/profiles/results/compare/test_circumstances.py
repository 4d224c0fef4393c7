"""What differs around two sessions: each difference with the changes that it may explain."""

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from flashscope.kernels.catalogue.own_kernel import OwnKernel, OwnLaunch
from flashscope.kernels.workload.device import Device
from flashscope.kernels.workload.problem import Passes
from flashscope.profiles.plan.plan import Protocol
from flashscope.profiles.results.compare import Difference
from flashscope.profiles.results.model.session import Session
from tests.profiles.results.compare.built import contrast, rounds, session
from tests.profiles.sessions import CPU, GPU, MACHINE

POINTS = {("flash2", 512): rounds(1.0), ("torch-flash", 512): rounds(1.0), ("flash-attn-4", 512): rounds(1.0)}


def found(other: Session, base: Session | None = None) -> dict[str, Difference]:
    return {one.key: one for one in contrast(base or session(POINTS), other).differences}


def on(**machine: Any) -> Session:
    return session(POINTS, machine=machine)


def gpu(**fields: Any) -> tuple[Device, Device]:
    return CPU, replace(GPU, **fields)


def test_two_runs_under_the_same_circumstances_differ_in_nothing() -> None:
    assert not found(session(POINTS))


def test_a_copy_beside_its_original_is_told_as_the_same_recording_before_all_else() -> None:
    original = session(POINTS)
    first, *others = contrast(original, original.snapshot()).differences
    assert (first.title, first.reach, others) == ("Same recording", "none", [])


def test_a_copy_whose_points_were_measured_anew_is_no_longer_the_same_recording() -> None:
    original, other = session(POINTS), session({cell: rounds(2.0) for cell in POINTS})
    other.id = original.id
    assert not found(other, original)


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("driver", on(driver="590.1")),
        ("device", on(devices=gpu(name="NVIDIA H100"))),
        ("uuid", on(devices=gpu(uuid="GPU-1"))),
        ("power-limit", session(POINTS, power_limit=500.0)),
        ("sm-clock", session(POINTS, clock=1720.0)),
        ("flashscope", session(POINTS, machine={"packages": {**MACHINE.packages, "flashscope": "2"}})),
        ("cache", session(POINTS, protocol=Protocol(cold=False))),
        ("warm-up", session(POINTS, protocol=Protocol(warmup=9))),
    ],
)
def test_what_may_explain_a_change_of_any_point_says_so(key: str, other: Session) -> None:
    base = session(POINTS, machine={"packages": {**MACHINE.packages, "flashscope": "1"}})
    one = found(other, base)[key]
    assert (one.reach, one.kernels) == ("every", ())
    here, there = one.names
    assert (
        one.sentence
        == f"{one.title}: {here} in the baseline, {there} here; it may explain a change of any point."
    )


def test_another_card_of_a_model_is_told_by_the_models_name_and_its_mark_is_kept() -> None:
    one = found(on(devices=gpu(uuid="GPU-1")))["uuid"]
    assert one.names == ("one NVIDIA H200", "another NVIDIA H200")
    assert (one.base, one.other) == ("GPU-0", "GPU-1")
    assert "GPU-" not in one.sentence


def test_a_card_of_another_model_is_told_by_its_model_alone() -> None:
    told = found(on(devices=gpu(name="NVIDIA H100", uuid="GPU-1")))
    assert "device" in told
    assert "uuid" not in told


def test_another_version_of_a_source_is_told_as_one_and_no_digest_is_read() -> None:
    def with_source(digest: str) -> Session:
        return on(sources={"cuda": {"flash2": digest}})

    one = found(with_source("b" * 12), with_source("a" * 12))["sources"]
    assert (one.base, one.other) == ("a" * 12, "b" * 12)
    assert one.sentence.startswith("Kernel source: one version in the baseline, another version here;")


@pytest.mark.parametrize(
    ("key", "machine", "kernels"),
    [
        ("cuda", {"cuda": "13.2"}, ("flash2",)),
        ("cupy", {"packages": {"cupy-cuda13x": "15"}}, ("flash2",)),
        ("torch", {"packages": {**MACHINE.packages, "torch": "3"}}, ("torch-flash", "flash-attn-4")),
        ("flash-attn-4", {"packages": {**MACHINE.packages, "flash-attn-4": "5"}}, ("flash-attn-4",)),
    ],
)
def test_a_package_explains_changes_of_the_kernels_made_with_it(
    key: str, machine: Mapping[str, Any], kernels: tuple[str, ...]
) -> None:
    one = found(on(**machine))[key]
    assert (one.reach, one.kernels) == ("kernels", kernels)
    assert one.sentence.endswith(f"it may explain a change of {', '.join(kernels)}.")


def test_a_clock_that_one_session_did_not_read_is_told() -> None:
    one = found(session(POINTS, clock=None))["sm-clock"]
    assert (one.base, one.other, one.reach) == ("1.98 GHz", "unknown", "every")
    assert not found(session(POINTS, clock=None), session(POINTS, clock=None))


def test_another_source_explains_changes_of_its_kernel_alone() -> None:
    base = on(sources={"cuda": {"flash2": "aaa", "flash3": "bbb"}})
    one = found(on(sources={"cuda": {"flash2": "ccc", "flash3": "ddd"}}), base)["sources"]
    assert (one.base, one.other, one.kernels) == ("aaa", "ccc", ("flash2",))
    untold = found(session(POINTS), base)["sources"]
    assert (untold.base, untold.other) == ("aaa", "unknown")


@pytest.mark.parametrize(
    ("passes", "told"),
    [("forward", None), ("backward", ("bbb", "ddd")), ("both", ("aaa, bbb", "aaa, ddd"))],
)
def test_another_source_of_a_backward_pass_explains_changes_of_that_alone(
    passes: Passes, told: tuple[str, str] | None
) -> None:
    base, other = (
        session(
            POINTS, machine={"sources": {"cuda": {"flash2": "aaa", "flash2 backward": digest}}}, passes=passes
        )
        for digest in ("bbb", "ddd")
    )
    one = found(other, base).get("sources")
    assert (one and (one.base, one.other)) == told
    assert one is None or one.kernels == ("flash2",)


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("numpy", on(packages={**MACHINE.packages, "numpy": "1"})),
        ("python", on(python="3.14")),
        ("host", on(devices=(replace(CPU, name="another"), GPU))),
        ("repeats", session(POINTS, protocol=Protocol(repeats=20))),
    ],
)
def test_what_explains_no_change_on_a_gpu_says_so_and_comes_last(key: str, other: Session) -> None:
    base = on(driver="590.1")
    told = contrast(base, other).differences
    assert told[0].reach == "every"
    assert (told[-1].key, told[-1].reach) == (key, "none")
    assert told[-1].sentence.endswith("it explains no change.")


def test_of_two_backends_their_drivers_and_packages_are_not_told() -> None:
    base = session(POINTS)
    cpu = session(POINTS, machine={"driver": None, "cuda": None}, clock=None)
    cpu.plan = replace(cpu.plan, backend="cpu")
    assert {*found(cpu, base)} == {"backend", "device"}


def of_own(sha256: str, commit: str = "", *, differs: bool | None = None) -> Session:
    """A session of a kernel of one's own beside one of ours."""
    made = session({("flash2", 512): rounds(1.0), ("mine", 512): rounds(1.0)})
    own = OwnKernel(
        name="mine",
        path="~/mine.cu",
        sha256=sha256,
        backends=("cuda",),
        dtypes=("float16",),
        launches=(OwnLaunch(entry="f", grid=("B",), threads=("64",)),),
        commit=commit,
        differs=differs,
    )
    made.plan = replace(made.plan, own=(own,))
    return made


def test_another_text_of_ones_own_kernel_may_explain_its_changes_alone() -> None:
    differing = found(of_own("b" * 64), of_own("a" * 64))
    assert differing.keys() == {"sources"}
    told = differing["sources"]
    assert (told.base, told.other, told.kernels) == ("a" * 12, "b" * 12, ("mine",))


def test_the_commit_of_ones_own_kernel_is_told_and_whether_its_file_was_edited() -> None:
    base, other = of_own("a" * 64, "c" * 40, differs=False), of_own("a" * 64, "c" * 40, differs=True)
    (told,) = found(other, base).values()
    assert (told.key, told.reach) == ("own-commits", "none")
    assert (told.base, told.other) == ("mine cccccccccccc", "mine cccccccccccc, edited")
