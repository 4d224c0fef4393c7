"""What commands and installations are called, in a checkout and where a wheel was installed."""

import shutil
import sys
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from flashscope import installation
from flashscope.installation import OLDEST_DRIVERS, cuda_extras, install_command
from tests.end_to_end import program

SOURCE = program.SOURCES / "flashscope" / "installation.py"


def loaded(path: Path) -> ModuleType:
    """The module anew, of a file."""
    spec = spec_from_file_location("installation", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def wheel(tmp_path: Path) -> ModuleType:
    """What the module says of a copy in a folder of packages."""
    there = tmp_path / "site-packages" / "flashscope" / SOURCE.name
    there.parent.mkdir(parents=True)
    shutil.copy(SOURCE, there)
    return loaded(there)


@pytest.mark.parametrize(
    ("driver", "extras"),
    [
        ("580.65.06", ("cuda13", "cuda12")),
        ("579.99", ("cuda12",)),
        ("525.60.13", ("cuda12",)),
        ("524.99", ()),
        ("580", ()),
        ("", ()),
        ("driver 580.65.06", ()),
    ],
)
def test_a_driver_runs_its_own_cuda_and_every_older_one(driver: str, extras: tuple[str, ...]) -> None:
    assert cuda_extras(driver) == extras


def test_each_cuda_is_an_extra_that_brings_its_own_cupy() -> None:
    required = metadata.requires("flashscope") or []
    for extra in OLDEST_DRIVERS:
        assert any(
            line.startswith(f"cupy-{extra}x") and f'extra == "{extra}"' in line for line in required
        ), extra


def test_a_checkout_is_installed_where_it_stands() -> None:
    assert program.ROOT == installation.CHECKOUT
    assert install_command() == ".venv/bin/pip install -e ."
    assert install_command("cuda12", instead_of="cupy-cuda13x") == (
        '.venv/bin/pip uninstall -y cupy-cuda13x && .venv/bin/pip install -e ".[cuda12]"'
    )


def test_what_came_as_a_wheel_is_installed_by_its_name(wheel: ModuleType) -> None:
    assert wheel.CHECKOUT is None
    assert wheel.install_command() == "pip install flashscope"
    assert wheel.install_command("cuda12", instead_of="cupy-cuda13x") == (
        'pip uninstall -y cupy-cuda13x && pip install "flashscope[cuda12]"'
    )


@pytest.mark.parametrize(
    ("started", "name"),
    [
        (str(program.ROOT / "main.py"), "python main.py"),
        ("main.py", "python main.py"),
        ("/usr/bin/flashscope", "flashscope"),
        (str(program.SOURCES / "flashscope" / "__main__.py"), "flashscope"),
        ("/of/another/program/main.py", "flashscope"),
        ("-c", "flashscope"),
    ],
)
def test_the_program_is_called_what_it_was_started_as(
    started: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(program.ROOT)
    monkeypatch.setattr(sys, "argv", [started])
    assert name == loaded(SOURCE).PROGRAM


def test_a_program_that_imports_it_without_arguments_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", [])
    assert loaded(SOURCE).PROGRAM == "flashscope"
