"""The README is true: commands, options, exit codes, file format, Python example."""

import re
import shutil
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from app.commands.program import program as command_line
from tests.end_to_end import program
from tests.profiles.store import builders

README = (program.ROOT / "README.md").read_text(encoding="utf-8")


def block_after(marker: str) -> str:
    found = re.search(rf"<!-- {marker} -->\n```sh\n(.*?)\n```", README, re.DOTALL)
    assert found, marker
    return found.group(1)


def options(command: click.Command) -> Iterator[str]:
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            yield from (*parameter.opts, *parameter.secondary_opts)


@pytest.mark.parametrize("name", command_line.commands)
def test_every_command_and_option_is_described(name: str) -> None:
    assert f"`python main.py {name}" in README
    for option in options(command_line.commands[name]):
        assert f"`{option}" in README or f" {option}" in README, option


def test_ci_runs_the_very_test_command_of_the_readme() -> None:
    script = (program.ROOT / ".ci" / "run").read_text(encoding="utf-8")
    found = re.search(r'bash -euo pipefail -c "\$\((sed .*)\)"', script)
    assert found
    extract = ["/bin/sh", "-c", found.group(1)]
    run_by_ci = subprocess.run(extract, check=True, capture_output=True, text=True, cwd=program.ROOT)
    assert run_by_ci.stdout.strip() == block_after("test command")
    assert " -m pytest -n auto" in block_after("test command")


@pytest.mark.parametrize("has_gpu", [True, False])
def test_the_run_command_installs_cupy_only_where_there_is_a_driver(tmp_path: Path, has_gpu: bool) -> None:
    for tool in ("python3", *(["nvidia-smi"] if has_gpu else [])):
        (tmp_path / tool).write_text("#!/bin/sh\nexit 0\n")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    for tool in ("pip", "python"):
        (tmp_path / ".venv" / "bin" / tool).write_text(f'#!/bin/sh\necho {tool} "$@"\n')
    for script in (*tmp_path.iterdir(), *(tmp_path / ".venv" / "bin").iterdir()):
        script.chmod(0o755)
    shell = shutil.which("sh") or "/bin/sh"
    done = subprocess.run(
        [shell, "-c", block_after("run command")],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": str(tmp_path)},
    )
    extra = "[cuda13]" if has_gpu else ""
    assert done.stdout == f"pip install -e .{extra}\npython main.py\n"


def test_the_sql_in_the_readme_answers(tmp_path: Path) -> None:
    path = builders.recorded(tmp_path / "a.flashscope")
    statements = re.findall(r'^sqlite3 first.flashscope "(.*)"$', README, re.MULTILINE)
    connection = sqlite3.connect(path)
    samples, figures = (connection.execute(statement).fetchall() for statement in statements)
    assert len(samples) == 6
    assert {key for _, key, _, _ in figures} >= {"prepare_ms", "workspace_bytes"}
    connection.close()


def test_the_python_example_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    found: dict[str, object] = {}
    exec(example, found)  # noqa: S102 - our own README
    assert getattr(found["output"], "shape", None) == (1, 2, 256, 64)
