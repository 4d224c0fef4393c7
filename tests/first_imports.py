"""What pytest's workers compile for one another: in a fresh clone, each would compile every module."""

import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def import_a_share(config: pytest.Config) -> None:
    """In a worker that will collect every test, import those of its share first.

    Python keeps what it has compiled in files. Workers that collect the same tests in the same order come to
    each module at the same time, and find no file; so they find those of one another.
    """
    worker = getattr(config, "workerinput", None)
    whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if worker is None or not whole or sys.dont_write_bytecode:
        return
    place, count = int(worker["workerid"].removeprefix("gw")), worker["workercount"]
    for name in share(modules(), place, count):
        with suppress(Exception, pytest.skip.Exception):  # collecting it will tell
            import_module(name)


def modules() -> list[str]:
    """The modules with tests, in the order in which they are collected."""
    found = sorted(path.relative_to(HERE.parent).with_suffix("") for path in HERE.rglob("test_*.py"))
    return [".".join(path.parts) for path in found]


def share(names: list[str], place: int, count: int) -> list[str]:
    """Of so many shares of about the same length the one at a place, from 0."""
    return names[place * len(names) // count : (place + 1) * len(names) // count]
