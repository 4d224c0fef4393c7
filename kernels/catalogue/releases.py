"""The packages that peers come in: which release was looked up last, when it was built, what it needs.

Looked up with pip on 2026-11-26. A date is the newest that a file in the wheel bears, a size that of the
wheel for Linux on x86-64 and Python 3.12 alone, without what it depends on.
"""

from typing import NamedTuple

EVERY_SYSTEM = frozenset({"Linux x86_64", "Linux aarch64", "Windows AMD64", "Darwin arm64"})
LINUX = frozenset({"Linux x86_64", "Linux aarch64"})
ALIKE = {"arm64": "aarch64", "amd64": "x86_64", "x64": "x86_64"}  # names of one processor on Linux


class Release(NamedTuple):
    """One release of a package.

    Attributes:
        package: What pip calls it; also the optional extra that installs it.
        version: Its version.
        built: When its wheel was built, as 2026-10-23.
        wheel_bytes: Size of that wheel.
        systems: Where it runs: `platform.system()` and `platform.machine()`.
        python: The oldest Python that it takes.
        before: The first Python that it does not take; None: it names none.
        tools: Programs that must be there when it runs, since it compiles.
        beside: What comes with it or must be there, in words; empty: nothing worth a word.
        extra: An extra of the package that is asked for with it.
        apart: Whether it can have a folder of its own; not what other peers compute on.
    """

    package: str
    version: str
    built: str
    wheel_bytes: int
    systems: frozenset[str]
    python: tuple[int, int]
    before: tuple[int, int] | None = None
    tools: tuple[str, ...] = ()
    beside: str = ""
    extra: str = ""
    apart: bool = True

    @property
    def requirement(self) -> str:
        """What pip is asked for, as `flash-attn-4[cu13]==4.0.0b36`."""
        return f"{self.package}{self.extra and f'[{self.extra}]'}=={self.version}"


RELEASES: dict[str, Release] = {
    one.package: one
    for one in (
        Release(
            package="torch",
            version="2.14.1",
            built="2026-09-30",
            wheel_bytes=554_618_695,
            systems=EVERY_SYSTEM,
            python=(3, 10),
            beside="on Linux it brings CUDA 13.0, cuDNN 9.24 and Triton 3.8",
            apart=False,
        ),
        Release(
            package="triton",
            version="3.8.0",
            built="2026-08-28",
            wheel_bytes=247_972_921,
            systems=LINUX,
            python=(3, 10),
            before=(3, 15),
            tools=("cc",),
            beside="the release that PyTorch 2.14.1 asks for; 3.9.0 is there, for other uses",
            apart=False,
        ),
        Release(
            package="nvidia-cudnn-frontend",
            version="1.32.0",
            built="2026-10-27",
            wheel_bytes=11_619_860,
            systems=LINUX | {"Windows AMD64"},
            python=(3, 10),
            beside="cuDNN itself is the one that PyTorch brings, unless a newer one is installed",
        ),
        Release(
            package="tokenspeed-fa3",
            version="3.0.0.post20260810",
            built="2026-08-11",
            wheel_bytes=62_816_724,
            systems=LINUX,
            python=(3, 9),
        ),
        Release(
            package="flash-attn-4",
            version="4.0.0b36",
            built="2026-10-21",
            wheel_bytes=528_175,
            systems=LINUX,
            python=(3, 10),
            beside="a pre-release, with nvidia-cutlass-dsl, whose libraries for CUDA 13 alone are 88 MiB",
            extra="cu13",
        ),
        Release(
            package="flashinfer-python",
            version="0.7.2.post1",
            built="2026-10-23",
            wheel_bytes=62_052_965,
            systems=LINUX,
            python=(3, 10),
            before=(4, 0),
            tools=("nvcc", "ninja"),
            beside="it brings nvidia-cudnn-frontend and nvidia-cutlass-dsl",
        ),
    )
}


def obstacles(release: Release, system: str, machine: str, python: tuple[int, int]) -> tuple[str, ...]:
    """Why a release cannot be installed somewhere, each reason as a clause; none: it can.

    Args:
        release: What is to be installed.
        system: As `platform.system()` says.
        machine: As `platform.machine()` says.
        python: (major, minor) of the interpreter.
    """
    known = ALIKE.get(machine.lower(), machine.lower()) if system == "Linux" else machine
    reasons = []
    if f"{system} {known}" not in release.systems:
        reasons.append(f"it is for {', '.join(sorted(release.systems))}, not for {system} {machine}")
    if python < release.python or (release.before is not None and python >= release.before):
        reasons.append(f"it takes {python_words(release)}, this is {python[0]}.{python[1]}")
    return tuple(reasons)


def python_words(release: Release) -> str:
    """The versions of Python that it takes: `Python 3.10 to 3.14` or `Python 3.10 or newer`."""
    oldest = ".".join(map(str, release.python))
    if release.before is None or release.before[1] == 0:
        return f"Python {oldest} or newer"
    return f"Python {oldest} to {release.before[0]}.{release.before[1] - 1}"
