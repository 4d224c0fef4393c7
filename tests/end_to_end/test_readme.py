"""The README is true: commands, options, exit codes, file format, Python example."""

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from flashscope.app.commands.program import program as command_line
from tests.end_to_end import program
from tests.profiles.store import builders
from tests.texts.pages import text

FRONT_DOOR = text("README.md")
COMMANDS = text("app/README.md")


def block_after(marker: str) -> str:
    found = re.search(rf"<!-- {marker} -->\n```sh\n(.*?)\n```", FRONT_DOOR, re.DOTALL)
    assert found, marker
    return found.group(1)


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (*parameter.opts, *parameter.secondary_opts)


@pytest.mark.parametrize("name", command_line.commands)
def test_every_command_and_option_is_described(name: str) -> None:
    assert f"`python main.py {name}" in COMMANDS
    for option in options(command_line.commands[name]):
        assert f"`{option}" in COMMANDS or f" {option}" in COMMANDS, option


def test_ci_runs_the_very_test_command_of_the_readme() -> None:
    script = (program.ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r'bash -euo pipefail -c "\$\((sed .*)\)"', script)
    assert found
    extract = ["/bin/sh", "-c", found.group(1)]
    run_by_ci = subprocess.run(extract, check=True, capture_output=True, text=True, cwd=program.ROOT)
    assert run_by_ci.stdout.strip() == block_after("test command")
    assert " -m pytest -n auto" in block_after("test command")


NO_DRIVER = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
SAID_AND_TAKEN = {  # what nvidia-smi prints and exits with, None where there is none; the extra that is taken
    "r580": (("580.65.06", 0), "[cuda13]"),
    "r610 on two GPUs": (("610.43.02\n610.43.02", 0), "[cuda13]"),
    "r570": (("570.124.06", 0), "[cuda12]"),
    "r535": (("535.183.01", 0), "[cuda12]"),
    "r525": (("525.60.13", 0), "[cuda12]"),
    "r450": (("450.80.02", 0), ""),
    "a driver that does not answer": ((NO_DRIVER, 9), ""),
    "a failure that looks like a version": (("580.65.06", 9), ""),
    "garbage": (("Error 580: \\303(", 0), ""),
    "no word": (("", 0), ""),
    "no nvidia-smi": (None, ""),
}


def write_script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


@pytest.mark.parametrize("machine", SAID_AND_TAKEN)
def test_the_run_command_takes_the_cupy_that_fits_the_driver(tmp_path: Path, machine: str) -> None:
    said, extra = SAID_AND_TAKEN[machine]
    write_script(tmp_path / "python3", f'[ "$1" = -m ] || exec {shlex.quote(sys.executable)} "$@"')
    if said is not None:
        write_script(tmp_path / "nvidia-smi", f"printf {shlex.quote(said[0])}; exit {said[1]}")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for tool in ("pip", "python"):
        write_script(tmp_path / ".venv" / "bin" / tool, f'echo {tool} "$@"')
    (tmp_path / ".src").symlink_to(program.SOURCES)
    shell = shutil.which("sh") or "/bin/sh"
    done = subprocess.run(
        [shell, "-c", block_after("run command")],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": str(tmp_path)},
    )
    assert done.stdout == f"pip install -e .{extra}\npython main.py\n"


def test_the_sql_in_the_page_on_the_file_answers(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    statements = re.findall(r'^sqlite3 first.flashscope "(.*)"$', text("profiles/README.md"), re.MULTILINE)
    connection = sqlite3.connect(path)
    samples, figures = (connection.execute(statement).fetchall() for statement in statements)
    assert len(samples) == 6
    assert {key for _, key, _, _ in figures} >= {"prepare_ms", "workspace_bytes"}
    connection.close()


def test_the_python_example_runs() -> None:
    example, _ = re.findall(r"```python\n(.*?)```", text("kernels/README.md"), re.DOTALL)
    if find_spec("flashscope") is None:  # a checkout that is not installed
        example = example.replace("flashscope.", "")
    found: dict[str, object] = {}
    exec(example, found)  # noqa: S102 - our own README
    assert getattr(found["output"], "shape", None) == (1, 2, 256, 64)
