"""The commands besides `sweep`, and what is said about bad arguments."""

import math
import re
import shlex
import sqlite3
from pathlib import Path

import pytest

from flashscope.app.cli import main
from flashscope.kernels.catalogue.registry import KERNELS
from tests.end_to_end import program
from tests.matrix import chosen
from tests.profiles.store import builders


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return builders.recorded(tmp_path / "a.flashscope")


@pytest.mark.parametrize("order", ["flash1", "flash2"])
def test_the_slide_example_is_traced_block_by_block(order: str) -> None:
    done = program.inside("trace", "--scores", "1,3,2,0.5", "--block", "2", "--order", order, "--json")
    found = program.document(done)
    first, second = found["blocks"]
    assert [first["block"], second["block"]] == [1, 2]
    assert [first["m"], second["m"]] == [3, 3]
    assert first["l"] == pytest.approx(1.135, abs=5e-4)
    assert second["l"] == pytest.approx(1.585, abs=5e-4)
    assert second["alpha"] == 1
    weights = [math.exp(s) for s in (1, 3, 2, 0.5)]
    assert found["softmax"] == pytest.approx([w / sum(weights) for w in weights], abs=1e-6)
    exact = sum(v * w for v, w in zip((1, 2, 3, 4), weights, strict=True)) / sum(weights)
    assert found["output"] == pytest.approx(exact, abs=1e-6)
    assert second["output"] == pytest.approx(exact, abs=1e-5)


def test_walked_backwards_the_maximum_rises_and_the_result_stays() -> None:
    done = program.inside("trace", "--scores", "1,3,2,0.5", "--block", "2", "--reverse", "--json")
    first, second = program.document(done)["blocks"]
    assert (first["m"], second["m"]) == (2, 3)
    assert second["alpha"] == pytest.approx(0.368, abs=5e-4)
    assert (first["l"], second["l"]) == (pytest.approx(1.223, abs=5e-4), pytest.approx(1.585, abs=5e-4))
    assert second["output"] == pytest.approx(2.250, abs=5e-4)


def test_a_trace_takes_negative_scores_own_values_and_a_ragged_last_block() -> None:
    done = program.inside("trace", "--scores", "-1,0,1", "--values", "-5,0,5", "--block", "2", "--json")
    found = program.document(done)
    assert [block["keys"] for block in found["blocks"]] == [[0, 1], [2]]
    assert found["values"] == [-5, 0, 5]


def test_a_trace_for_people_says_which_values_it_took() -> None:
    done = program.inside("trace", "--scores", "1,3,2,0.5", "--block", "2")
    assert "V = 1 .. 4" in done.stdout
    assert re.search(r"block +scores +m +α +ℓ +O / ℓ", done.stdout)
    assert "exact output:  2.250246" in done.stdout


def test_a_trace_with_a_fault_names_it_and_the_block_that_makes_it_wrong() -> None:
    row = ("trace", "--scores", "1,3,2,0.5", "--reverse", "--fault", "no-rescale")
    found = program.document(program.inside(*row, "--json"))
    assert (found["fault"], found["passes"], found["first_wrong_block"]) == ("no-rescale", False, 2)
    assert found["blocks"][1]["l"] == pytest.approx(1.223 + 1.135, abs=1e-3)
    said = program.inside(*row).stdout
    assert "BROKEN: forget the rescale" in said
    assert "Row 0 leaves the truth at tile 2 of 2" in said
    assert "the check of kernels refuses it" in said


def test_a_fault_that_does_not_show_says_why_and_one_without_numbers_is_null() -> None:
    right = program.inside("trace", "--scores", "1,3,2,0.5", "--fault", "no-rescale")
    assert "This input does not show the fault: no tile raises a maximum" in right.stdout
    found = program.document(program.run("trace", "--scores", "1,200", "--fault", "no-maximum", "--json"))
    assert found["blocks"][0]["output"] is None
    plain = program.document(program.inside("trace", "--scores", "1,3", "--json"))
    assert plain["fault"] == ""
    assert "passes" not in plain


@pytest.mark.matrix  # it takes a second
def test_show_prints_a_saved_session_as_table_csv_and_json(session: Path) -> None:
    table, csv = program.run("show", str(session)), program.inside("show", str(session), "--csv")
    assert "Out of memory." in table.stdout
    problem = next(line for line in table.stdout.splitlines() if line.startswith("Problem: "))
    assert all(word in problem for word in ("heads 1", "head dim 64", "float32", "no mask"))
    assert csv.stdout.startswith("# session: 0123")
    assert len(program.document(program.inside("show", str(session), "--json"))["points"]) == 4


def test_show_explains_a_file_it_cannot_open_in_one_line(
    session: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text").write_text("hello " * 100)
    (tmp_path / "cut").write_bytes(session.read_bytes()[:9000])
    connection = sqlite3.connect(session)
    connection.execute("PRAGMA user_version = 42")
    connection.close()
    expected = {
        tmp_path / "text": "not a Flashscope session",
        tmp_path / "cut": "damaged",
        session: "format version 42",
        tmp_path / "none": "No such file",
        tmp_path: "is a folder",
    }
    for path, sentence in expected.items():
        assert main(["show", str(path), "--json"]) == 1
        told = capsys.readouterr()
        assert told.out == ""
        assert sentence in told.err
        assert told.err.count("\n") == 1


def test_ratios_to_a_kernel_that_the_session_does_not_hold_are_refused(
    session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["show", str(session), "--against", "torch-cudnn"]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "holds nothing of torch-cudnn" in told.err
    assert told.err.count("\n") == 1


BAD = [
    "sweep --seqlen 4096:256",
    "sweep --seqlen 0",
    "sweep --seqlen many",
    "sweep --preset everything",
    "sweep --preset peers --causal",
    "sweep --preset peers --head-dim 32",
    "sweep --preset peers --head-dim 64",
    "sweep --preset decode --queries 1",
    "sweep --preset peers-backward --pass both",
    "sweep --block-size 64",
    "show a --against flash9",
    "show a --against auto",
    "sweep --kernels flash9",
    "sweep --kernels flash1,flash1",
    "sweep --kernels ,",
    "sweep --kernels auto,flash2",
    "sweep --window 4",
    "sweep --window 4,-2",
    "sweep --backend cpu --window 4,9223372036854775808",
    "sweep --backend cpu --batch 18446744073709551616",
    "sweep --backend cpu --repeats 18446744073709551616",
    "sweep --kv-heads 0",
    "sweep --backend tpu",
    "sweep --heads 0",
    "sweep --head-dim x",
    "sweep --dtype float8",
    "sweep --repeats -1",
    "sweep --seed -1",
    "sweep --seed 2147483648",
    "sweep --seqlen 100000000000",
    "sweep --out=",
    "shots ''",
    "sweep --colour",
    "sweep --out pyproject.toml",
    "sweep --out x.txt",
    "sweep --out x",
    "sweep --out no/such/folder/x.flashscope",
    "sweep --out main.py/x.flashscope",
    "sweep file",
    "show",
    "show a b",
    "show a --json --csv",
    "show a --csv --against flash2",
    "trace",
    "trace --scores 1,,2",
    "trace --scores 1,nan",
    "trace --scores 1,2 --block 0",
    "trace --scores 1,1e300",
    "trace --scores 1,2 --values 1",
    "trace --scores 1,2 --order flash3",
    "shots",
    "--colour",
    "swep",
]
BAD_ON_THIS_MACHINE = [  # a child looks at it first
    "sweep --backend cpu --heads 3 --kv-heads 2",
    "sweep --backend cpu --kernels simt",
    "sweep --backend cpu --seqlen 100000 --block-mask local:1 --block-size 1",
    "sweep --backend cpu --head-dim 17",
    "sweep --backend cpu --head-dim 17 --kernels auto",
    "sweep --backend cpu --dtype float16",
]


@chosen("arguments", [*BAD, *BAD_ON_THIS_MACHINE], [*BAD, *BAD_ON_THIS_MACHINE[:2]])
def test_bad_arguments_get_one_line_and_exit_code_2(arguments: str, tmp_path: Path) -> None:
    done = program.inside(*shlex.split(arguments), home=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr


def test_usage_is_told_as_it_is_typed() -> None:
    assert "(see python main.py sweep --help)" in program.run("sweep", "--heads", "0").stderr
    told = program.run("--help").stdout
    assert "Usage: python main.py" in told
    assert "python main.py FILE" in " ".join(told.split())


def test_a_mistyped_option_is_told_which_ones_may_have_been_meant(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["sweep", "--seqlens", "256"]) == 2
    assert "--seqlen" in capsys.readouterr().err.replace("--seqlens", "")


def test_the_version_is_told() -> None:
    done = program.run("--version")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("flashscope ")


@pytest.mark.matrix
def test_pictures_go_to_a_folder_or_one_line_says_why_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = program.run("shots", str(tmp_path / "file" / "pictures"))
    assert (done.returncode, done.stdout) == (1, "")
    assert "no folder can be made" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.matrix
def test_no_picture_is_written_over(tmp_path: Path) -> None:
    mine = tmp_path / "sessions-light-1600x1000.png"
    mine.write_text("mine")
    done = program.run("shots", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{mine} exists already" in done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.matrix
def test_the_stops_of_a_story_are_drawn_or_one_line_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    story = tmp_path / "two.toml"
    story.write_text(
        'title = "Two"\n[[stop]]\npage = "profile"\nsession = "h200-standard-flash2"\n'
        '[[stop]]\npage = "stepper"\npreset = "slide"\nstep = 3\n'
    )
    done = program.run("shots", str(tmp_path / "a"), "--story", str(story), "--theme", "light")
    assert (done.returncode, done.stderr) == (0, "")
    drawn = [tmp_path / "a" / f"two-0{number}-light.png" for number in (1, 2)]
    assert done.stdout.splitlines() == [str(path) for path in drawn]
    assert {path.read_bytes()[:4] for path in drawn} == {b"\x89PNG"}
    assert drawn[0].read_bytes() != drawn[1].read_bytes()
    done = program.run("shots", str(tmp_path), "--story", "no-such-story")
    assert (done.returncode, done.stdout) == (2, "")
    assert "there is no story 'no-such-story'" in done.stderr


def test_every_kernel_is_listed_with_where_it_runs_or_why_not() -> None:
    found = program.document(program.inside("kernels", "--json"))["kernels"]
    assert [kernel["name"] for kernel in found] == [spec.name for spec in KERNELS]
    for kernel in found:
        if kernel["family"] != "library" and kernel["backends"]["cpu"]["dtypes"]:
            assert kernel["backends"]["cpu"]["supported"] is True
        for backend in kernel["backends"].values():
            assert backend["supported"] is (backend["reason"] is None)
    backward = {kernel["name"]: kernel["backends"]["cpu"]["backward"] for kernel in found}
    assert (backward["flash2"], backward["fused"], backward["flash3"]) == (["float32"], [], [])
    ideas = {kernel["name"]: kernel["backward_idea"] for kernel in found}
    assert ideas == {spec.name: spec.backward.idea if spec.backward else None for spec in KERNELS}


@pytest.mark.matrix
def test_why_there_is_no_gpu_is_said_once_for_all_kernels() -> None:
    told = program.run("kernels").stdout
    assert told.count("no usable GPU here: ") == ("  cuda: no usable GPU here\n" in told)
    assert len(told.splitlines()) <= 3 * len(KERNELS) + told.count("  backward pass: ") + 1


@pytest.mark.matrix  # it takes a second
def test_the_doctor_names_every_finding_and_its_remedy() -> None:
    found = program.document(program.run("doctor", "--json"))
    names = [finding["name"] for finding in found["findings"]]
    assert names[:5] == ["System libraries", "Qt", "Display", "Assets", "CPU"]
    assert {"NVML", "CuPy"} & set(names)
    assert len(set(names)) == len(names)
    assert found["machine"]["findings"] == []
    assert all(finding["detail"] for finding in found["findings"])
    assert (found["apt"] is None) == found["findings"][0]["ok"]


@pytest.mark.matrix
def test_the_doctor_works_where_qt_cannot_be_imported(tmp_path: Path) -> None:
    for name in ("PySide6", "pyqtgraph"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise ImportError('not here')")
    done = program.run("doctor", PYTHONPATH=str(tmp_path))
    assert "CPU" in done.stdout
    assert "Traceback" not in done.stderr


def test_without_a_display_the_window_is_refused_in_one_line_that_says_what_to_do() -> None:
    done = program.run()
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "doctor" in done.stderr or "xvfb-run" in done.stderr or "apt-get install" in done.stderr


def test_a_display_that_does_not_answer_is_refused_like_none() -> None:
    done = program.run(DISPLAY=":987")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("swep",), "sweep"),
        (("sweep", "--kernels", "flesh2"), "flash2"),
        (("show", "a", "--against", "tortch-flash"), "torch-flash"),
        (("sweep", "--seqlenz", "3"), "'--seqlen'"),
    ],
)
def test_what_is_almost_right_is_told_what_may_have_been_meant(
    arguments: tuple[str, ...], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    told = capsys.readouterr().err.lower()
    assert "did you mean" in told
    assert meant in told.partition("did you mean")[2]


@pytest.mark.matrix
def test_a_machine_without_a_gpu_is_not_told_that_something_is_missing() -> None:
    found = program.document(program.run("doctor", "--json"))["findings"]
    lines = [line for line in program.run("doctor").stdout.splitlines() if not line.startswith(" ")]
    needed = {"System libraries", "Qt"}
    for line, finding in zip(lines, found, strict=True):
        word = "ok" if finding["ok"] else "missing" if finding["name"] in needed else "none"
        assert line.split()[0] == word


@pytest.mark.matrix  # it imports PyTorch twice, which takes seconds
def test_the_self_check_tells_what_agrees_and_what_cannot_be_tested_on_a_machine_without_a_gpu() -> None:
    found = program.document(program.run("selfcheck", "--json"))["checks"]
    verdicts = {(one["what"], one["verdict"]) for one in found}
    assert ("footprint", "agrees") in verdicts
    assert "differs" not in {verdict for _, verdict in verdicts}
    assert all(one["missing"] for one in found if one["verdict"] == "not tested")


def test_a_dash_is_stdout_and_no_file_of_that_name(session: Path) -> None:
    done = program.run("export", str(session), "-", "--to", "csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# ")
    assert not (program.ROOT / "-").exists()
    refused = program.inside("compare", str(session), str(session), "--html", "-")
    assert refused.returncode == 2
    assert "- is no file" in refused.stderr


def test_a_length_is_spelled_alike_wherever_one_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    sessions = str(program.ROOT / "assets" / "sessions")
    printed = []
    for length in ("4k", "4096"):
        assert main(["trend", sessions, "--kernel", "flash2", "--seqlen", length]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] != ""
