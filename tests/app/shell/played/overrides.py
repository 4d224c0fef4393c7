"""Every method of the window's code that Qt, or pyqtgraph in one of Qt's calls, calls by itself."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import shiboken6

from flashscope import app

ELSEWHERE = ("PySide6", "pyqtgraph", "superqt")
CALLED_BY_US = {"setText"}  # not virtual: Qt never calls ours


class Override(NamedTuple):
    """A method of a class, under the name that Qt knows."""

    owner: type
    name: str

    @property
    def method(self) -> Callable[..., Any]:
        method: Callable[..., Any] = vars(self.owner)[self.name]
        return method

    def __str__(self) -> str:
        return f"{self.owner.__name__}.{self.name}"


def overrides() -> list[Override]:
    """All of them, in the order of their modules; also those that a class has from one that is not Qt's."""
    return list(
        dict.fromkeys(
            Override(owner, name)
            for widget in _classes()
            for owner in widget.__mro__
            if owner.__module__.startswith(app.__name__)
            for name, method in vars(owner).items()
            if inspect.isfunction(method)
            and not name.startswith("__")
            and name not in CALLED_BY_US
            and any(name in vars(base) for base in widget.__mro__ if base.__module__.startswith(ELSEWHERE))
        )
    )


def _classes() -> Iterator[type]:
    for found in pkgutil.walk_packages(app.__path__, f"{app.__name__}."):
        module = import_module(found.name)
        for owner in vars(module).values():
            if not inspect.isclass(owner) or owner.__module__ != found.name:
                continue
            if issubclass(owner, shiboken6.Shiboken.Object):
                yield owner
