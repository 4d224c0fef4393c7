"""The user's own presets: what the form said under a name, in a file beside the settings."""

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from platformdirs import user_config_path
from PySide6.QtCore import QObject, Signal

from flashscope.home import make_own_folder, own_home
from flashscope.profiles.plan.request import Request
from flashscope.profiles.plan.spelled import read_spelled, spelled

FILE = "presets.json"
FORMAT = 1
MOST_RUNS = 20
MOST_BYTES = 1 << 20
LONGEST_NAME = 60
MOVED = "where a preset is saved it is kept under another name."
NEWER = "it was written by a newer Flashscope, which can read it"


class PresetsError(Exception):
    """Presets cannot be kept; the text is one sentence with a remedy."""


@dataclass(frozen=True)
class OwnPreset:
    """A named form.

    Attributes:
        name: What the user calls it.
        request: Its choices; None where the file spells none that this version knows.
        runs: How often its sweep is made.
        reason: Why it has no request, empty where it has one.
        raw: What stands in the file, which is written again as it is.
    """

    name: str
    request: Request | None
    runs: int
    reason: str
    raw: dict[str, Any]


def made_preset(name: str, request: Request, runs: int) -> OwnPreset:
    """A preset of what a form says."""
    raw = {"name": name, "runs": runs, "choices": spelled(request)}
    return OwnPreset(name, request, runs, "", raw)


class Presets(QObject):
    """Presets in a file that only the user can read; it is read anew before every change of it.

    A file that cannot be read is never written over: it is moved aside when something has to be kept.

    Signals:
        changed: There are others.
    """

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = (own_home() or user_config_path("flashscope")) / FILE

    def all(self) -> tuple[tuple[OwnPreset, ...], str]:
        """All of them in the order of their names, and why the file cannot be read; empty: it can."""
        try:
            return self._read(), ""
        except (OSError, ValueError) as error:
            return (), f"{self.path} cannot be read: {_said(error)}. It is left as it is; {MOVED}"

    def find(self, name: str) -> OwnPreset | None:
        """The preset of that name, whatever its case; None: there is none."""
        return next((one for one in self.all()[0] if _same(one.name, name)), None)

    def keep(self, preset: OwnPreset) -> str:
        """Keep a preset, in the place of one of its name; returns where an unreadable file went, or nothing.

        Raises:
            PresetsError: It cannot be written.
        """
        return self._change(
            lambda presets: [*(one for one in presets if not _same(one.name, preset.name)), preset]
        )

    def drop(self, name: str) -> str:
        """Forget the preset of that name; returns where an unreadable file went, or nothing.

        Raises:
            PresetsError: The file cannot be written.
        """
        return self._change(lambda presets: [one for one in presets if not _same(one.name, name)])

    def rename(self, before: str, name: str) -> str:
        """Give a preset another name, which none has; returns where an unreadable file went, or nothing.

        Raises:
            PresetsError: Another one has the name, or the file cannot be written.
        """
        taken = self.find(name)
        if taken is not None and not _same(before, name):
            raise PresetsError(f"There is a preset called {taken.name}; choose another name.")
        return self._change(
            lambda presets: [_renamed(p, name) if _same(p.name, before) else p for p in presets]
        )

    def _change(self, change: Callable[[Sequence[OwnPreset]], Sequence[OwnPreset]]) -> str:
        aside = ""
        try:
            try:
                before = self._read()
            except ValueError as error:
                if str(error) == NEWER:
                    raise PresetsError(f"{self.path} stays as it is: {NEWER}.") from error
                before, aside = (), str(self._move_aside())
            self._write(change(before))
        except OSError as error:
            raise PresetsError(f"The presets cannot be kept in {self.path}: {_said(error)}.") from error
        self.changed.emit()
        return aside

    def _read(self) -> tuple[OwnPreset, ...]:
        """Raises OSError, or ValueError with why the file says nothing."""
        if not self.path.exists():
            return ()
        if self.path.stat().st_size > MOST_BYTES:
            raise ValueError(f"it is larger than {MOST_BYTES >> 20} MiB")
        try:
            held = json.loads(self.path.read_bytes())
        except (ValueError, RecursionError) as error:
            raise ValueError(f"it is no JSON ({_said(error)})") from error
        listed = isinstance(held, dict) and isinstance(held.get("presets"), list)
        if not listed or not isinstance(held.get("format"), int):
            raise ValueError("it holds no list of presets")
        if held["format"] > FORMAT:
            raise ValueError(NEWER)
        return tuple(sorted(map(_preset, held["presets"]), key=lambda one: one.name.casefold()))

    def _write(self, presets: Sequence[OwnPreset]) -> None:
        make_own_folder(self.path.parent)
        text = json.dumps({"format": FORMAT, "presets": [one.raw for one in presets]}, indent=1)
        handle, part = tempfile.mkstemp(prefix=f".{FILE}-", dir=self.path.parent)  # for the user alone
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(part).replace(self.path)
        except BaseException:
            Path(part).unlink(missing_ok=True)
            raise

    def _move_aside(self) -> Path:
        """Give the file the first free name for one that cannot be read; returns it."""
        number, aside = 1, self.path.with_stem(f"{self.path.stem}-unreadable")
        while aside.exists():
            number += 1
            aside = self.path.with_stem(f"{self.path.stem}-unreadable-{number}")
        self.path.rename(aside)
        return aside


def _preset(raw: object) -> OwnPreset:
    """What one entry of the file says; one that says nothing keeps its place, with the reason.

    Raises:
        ValueError: It has no name.
    """
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str) or not raw["name"].strip():
        raise ValueError("a preset in it has no name")
    name, runs, choices = raw["name"], raw.get("runs", 1), raw.get("choices")
    if not isinstance(choices, dict):
        return OwnPreset(name, None, 1, "it has no choices", raw)
    if type(runs) is not int or not 1 <= runs <= MOST_RUNS:
        return OwnPreset(name, None, 1, f"its runs are no number from 1 to {MOST_RUNS}", raw)
    try:
        return OwnPreset(name, read_spelled(choices), runs, "", raw)
    except ValueError as error:
        return OwnPreset(name, None, runs, str(error), raw)


def _renamed(preset: OwnPreset, name: str) -> OwnPreset:
    return OwnPreset(name, preset.request, preset.runs, preset.reason, preset.raw | {"name": name})


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _said(error: Exception) -> str:
    return " ".join((getattr(error, "strerror", None) or str(error)).split()).rstrip(".")
