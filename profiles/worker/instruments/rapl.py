"""The energy of the CPU's packages as Linux tells it (Documentation/power/powercap/powercap.rst)."""

from pathlib import Path

from flashscope.profiles.worker.instruments.energy import Counter, NoCounterError

POWERCAP = Path("/sys/class/powercap")
REFUSED = (
    "the system lets only root read the CPU's energy (/sys/class/powercap); the CPU backend has none then"
)


class Package:
    """One package's counter, which starts anew at its end."""

    def __init__(self, folder: Path) -> None:
        self._counter = folder / "energy_uj"
        self._range = int((folder / "max_energy_range_uj").read_text())
        self._last, self._turns = self._now(), 0

    def read(self) -> int:
        """What it has taken, in uJ, however often it started anew."""
        now = self._now()
        self._turns += now < self._last
        self._last = now
        return now + self._turns * (self._range + 1)

    def _now(self) -> int:
        return int(self._counter.read_text())


def cpu_counter(root: Path = POWERCAP) -> Counter:
    """The sum of all packages.

    Raises:
        NoCounterError: There is none, or it may not be read.
    """
    folders = sorted(root.glob("intel-rapl:[0-9]"))  # a package each; their parts have a second number
    if not folders:
        raise NoCounterError("this system tells no energy of its CPU (no RAPL in /sys/class/powercap)")
    try:
        packages = [Package(folder) for folder in folders]
    except OSError as error:
        raise NoCounterError(REFUSED) from error
    return Counter(lambda: sum(package.read() for package in packages) / 1e3, "RAPL, whole packages")
