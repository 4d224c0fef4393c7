"""What a stop runs is told as the command line tells it, and refused with the option and a remedy."""

from pathlib import Path

import pytest

from flashscope.app.stage.live import Unrunnable, check_run, plan_here, read_options
from flashscope.app.stage.story import StoryError, read_story
from flashscope.app.words.command_line import command_line
from flashscope.kernels.own import consent
from flashscope.kernels.own.references import read_reference
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.plan.request import Request
from tests.app.fakes import CPU_MACHINE
from tests.app.own_files import python_file

RUN = "--kernels standard,flash2 --seqlen 256:1024 --backend cpu"
FALLBACK = 'fallback = "h200-standard-flash2"\n'


def story(folder: Path, fields: str, page: str = "profile") -> Path:
    path = folder / "live.toml"
    path.write_text(f'title = "Live"\n[[stop]]\npage = "{page}"\n{fields}')
    return path


def test_a_copied_command_runs_what_it_was_copied_from() -> None:
    asked = Request.of("cpu", kernels=("flash2",), seqlens=(256, 512), causal=True, verify=False, repeats=3)
    assert Request.of(**read_options(command_line(asked))) == asked


@pytest.mark.parametrize("page", ["profile", "telemetry", "results"])
def test_a_stop_that_runs_names_its_sweep_and_its_fallback(tmp_path: Path, page: str) -> None:
    (stop,) = read_story(story(tmp_path, f'run = "{RUN}"\n{FALLBACK}', page)).stops
    assert (stop.run, stop.fallback) == (RUN, "h200-standard-flash2")


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        (f'run = "{RUN}"\n', 'line 4: name what is shown where it cannot run; write fallback = "h200-'),
        (FALLBACK, "line 4: nothing runs here"),
        (f'run = "{RUN}"\nsession = "h200-peers"\n', "line 4: a stop shows what it runs, or a session"),
        (f'run = "--kernel flash2"\n{FALLBACK}', "line 4: '--kernel' is no option of a sweep; did you mean"),
        (f'run = "--kernels flash9"\n{FALLBACK}', "line 4: --kernels: "),
        (f'run = "--seqlen"\n{FALLBACK}', "line 4: --seqlen: "),
        (f"run = '--kernels \"flash2'\n{FALLBACK}", "line 4: it is no line of options"),
        (f'run = "sweep"\n{FALLBACK}', "line 4: it names nothing to run; write --kernels"),
        (f'run = "--heads 3 --kv-heads 2"\n{FALLBACK}', "line 4: there is no such sweep: "),
        (f'run = "{RUN}"\nfallback = "nowhere"\n', "line 5: there is no session 'nowhere'"),
    ],
)
def test_a_run_that_cannot_be_is_refused_with_its_line(tmp_path: Path, fields: str, told: str) -> None:
    with pytest.raises(StoryError) as refused:
        read_story(story(tmp_path, fields))
    assert told in str(refused.value)


def test_only_views_that_show_a_sweep_as_it_grows_run_one(tmp_path: Path) -> None:
    with pytest.raises(StoryError, match="the stepper page shows no run"):
        read_story(story(tmp_path, f'run = "{RUN}"\n{FALLBACK}', "stepper"))


def test_a_run_is_planned_for_the_machine_and_of_the_kernels_that_run_there() -> None:
    plan = plan_here("--kernels standard,flash3,flash2 --seqlen 256:512", CPU_MACHINE)
    assert (plan.backend, plan.kernels) == ("cpu", ("standard", "flash2"))
    assert [problem.seqlen for problem in plan.problems] == [256, 512]


def test_a_run_that_wants_a_gpu_or_kernels_that_are_not_here_says_so() -> None:
    with pytest.raises(Unrunnable, match="no usable GPU here"):
        plan_here(f"{RUN} --backend cuda", CPU_MACHINE)
    with pytest.raises(Unrunnable, match="flash3 cannot run on"):
        plan_here("--kernels flash3 --seqlen 256", CPU_MACHINE)


def test_options_are_read_in_every_spelling() -> None:
    assert read_options("--heads=4 --no-verify --causal --backend auto --kernels auto") == {
        "heads": 4,
        "verify": False,
        "causal": True,
    }
    with pytest.raises(InputError, match="did you mean --seqlen"):
        check_run("--seqlens 256")


def test_a_kernel_of_ones_own_runs_on_stage_only_once_its_file_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consent, "_named", set())
    path = python_file(tmp_path)
    run = f"--kernels flash2,{path} --seqlen 256 --backend cpu"
    with pytest.raises(Unrunnable, match="mine is from a file of one's own, which runs only where you name"):
        plan_here(run, CPU_MACHINE)
    read_reference(str(path))
    plan = plan_here(run, CPU_MACHINE)
    assert plan.kernels == ("flash2", "mine")
    assert [one.name for one in plan.own] == ["mine"]
