"""What the window remembers between starts: appearance, scale, geometry, recent files and the form."""

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import cast, get_args

from platformdirs import user_config_path
from PySide6.QtCore import QByteArray, QSettings

from flashscope.app.control.appearance import ThemeChoice
from flashscope.home import make_own_folder, own_home
from flashscope.kernels.workload.problem import Backend
from flashscope.profiles.plan.request import Request
from flashscope.profiles.plan.spelled import read_spelled, spelled

Form = tuple[Request, int]
RECENTS = 8
NAMES = "recentNames"
SCALES = (80, 100, 125, 150, 175, 200, 250)  # percent


class Settings:
    """Settings in one INI file: `$FLASHSCOPE_HOME/settings.ini`, else in the user's configuration folder."""

    def __init__(self) -> None:
        folder = own_home() or user_config_path("flashscope")
        with suppress(OSError):  # Qt says nothing of what it cannot write, and neither does the window
            make_own_folder(folder)
        self._store = QSettings(str(folder / "settings.ini"), QSettings.Format.IniFormat)

    @property
    def appearance(self) -> ThemeChoice:
        """The theme the user chose."""
        stored = str(self._store.value("appearance", "system"))
        return cast("ThemeChoice", stored) if stored in get_args(ThemeChoice) else "system"

    @appearance.setter
    def appearance(self, choice: ThemeChoice) -> None:
        self._store.setValue("appearance", choice)

    @property
    def scale(self) -> int:
        """Size of the interface in percent."""
        stored = str(self._store.value("scale", "100"))
        return int(stored) if stored.isdecimal() and int(stored) in SCALES else 100

    @scale.setter
    def scale(self, percent: int) -> None:
        self._store.setValue("scale", percent)

    @property
    def recents(self) -> list[Path]:
        """Session files opened or recorded lately that still exist, newest first."""
        stored = self._store.value("recents", [])
        texts = [stored] if isinstance(stored, str) else list(cast("list[str]", stored or []))
        return [path for path in map(Path, texts) if path.is_file()]

    def add_recent(self, path: Path, name: str = "") -> None:
        """Put a file first among the recents; `name` is the one given to its session, empty: none was."""
        recents = [path.absolute(), *(p for p in self.recents if p != path.absolute())][:RECENTS]
        names = {p: self.recent_name(p) for p in recents} | {path.absolute(): name or path.stem}
        opened = {p: self.recent_ns(p) for p in recents} | {path.absolute(): time.time_ns()}
        self._store.setValue("recents", [str(p) for p in recents])
        self._store.remove(NAMES)
        for place, p in enumerate(recents):
            self._store.setValue(f"{NAMES}/{place}", [str(p), names[p], str(opened[p])])

    def recent_name(self, path: Path) -> str:
        """What a recent file's session was called when it was opened last."""
        return next(iter(self._known(path)), path.stem)

    def recent_ns(self, path: Path) -> int:
        """When a recent file was opened last, in ns since 1970; 0 where that is not on record."""
        when = "".join(self._known(path)[1:])
        return int(when) if when.isdecimal() else 0

    def _known(self, path: Path) -> list[str]:
        """Name and time of a recent file, as far as they are on record."""
        stored = (self._store.value(f"{NAMES}/{place}") for place in range(RECENTS))
        known = (list(map(str, one)) for one in stored if isinstance(one, list))
        return next((words for file, *words in known if file == str(path)), [])

    @property
    def commands(self) -> list[str]:
        """Keys of the actions run lately by name, newest first."""
        stored = self._store.value("commands", [])
        return [stored] if isinstance(stored, str) else list(cast("list[str]", stored or []))

    def add_command(self, key: str) -> None:
        """Put an action first among those run lately."""
        self._store.setValue("commands", [key, *(k for k in self.commands if k != key)][:RECENTS])

    @property
    def connections(self) -> list[str]:
        """The connection files and addresses of other machines used lately, newest first."""
        stored = self._store.value("connections", [])
        return [stored] if isinstance(stored, str) else list(cast("list[str]", stored or []))

    def add_connection(self, named: str) -> None:
        """Put a connection first among those used lately."""
        self._store.setValue(
            "connections", [named, *(one for one in self.connections if one != named)][:RECENTS]
        )

    @property
    def tour_shown(self) -> bool:
        """Whether the tour through the window has been shown."""
        return bool(self._store.value("tourShown", False, bool))

    @tour_shown.setter
    def tour_shown(self, shown: bool) -> None:
        self._store.setValue("tourShown", shown)

    @property
    def quantities(self) -> list[str]:
        """Keys of the quantities that the four plots over N show; empty: nobody has chosen."""
        stored = self._store.value("quantities", [])
        return [stored] if isinstance(stored, str) else list(cast("list[str]", stored or []))

    @quantities.setter
    def quantities(self, keys: list[str]) -> None:
        self._store.setValue("quantities", keys)

    @property
    def form_backend(self) -> str:
        """Where the form's sweep was to run last; empty: nobody has said."""
        return str(self._store.value("form/backend", ""))

    def form(self, backend: Backend) -> Form | None:
        """What the form said last for a backend, and how many runs; None: nothing that is known."""
        try:
            held = json.loads(str(self._store.value(f"form/{backend}", "")))
            request, runs = read_spelled(held["choices"]), int(held["runs"])
        except (ValueError, TypeError, KeyError, RecursionError):
            return None
        return (request, runs) if request.backend == backend else None

    def keep_form(self, request: Request, runs: int) -> None:
        """Remember what the form says."""
        text = json.dumps({"runs": runs, "choices": spelled(request)})
        self._store.setValue(f"form/{request.backend}", text)
        self._store.setValue("form/backend", request.backend)

    @property
    def scores(self) -> str:
        """The scores that the user typed into the Stepper last; empty: none were."""
        return str(self._store.value("scores", ""))

    @scores.setter
    def scores(self, text: str) -> None:
        self._store.setValue("scores", text)

    @property
    def stepper_mode(self) -> str:
        """The key of the mode that the Stepper was in last; empty: nobody has chosen."""
        return str(self._store.value("stepperMode", ""))

    @stepper_mode.setter
    def stepper_mode(self, key: str) -> None:
        self._store.setValue("stepperMode", key)

    @property
    def stories(self) -> Path | None:
        """The folder that the user's stories were kept in last, while it is there; None: nobody has said."""
        stored = str(self._store.value("stories", ""))
        return Path(stored) if stored and Path(stored).is_dir() else None

    @stories.setter
    def stories(self, folder: Path) -> None:
        self._store.setValue("stories", str(folder.absolute()))

    @property
    def geometry(self) -> QByteArray | None:
        """Where the window was when it was closed."""
        stored = self._store.value("geometry")
        return stored if isinstance(stored, QByteArray) else None

    @geometry.setter
    def geometry(self, geometry: QByteArray) -> None:
        self._store.setValue("geometry", geometry)
