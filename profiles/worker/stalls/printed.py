"""What ncu prints of a launch that it sampled: instructions with their samples, counters, its version."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

METRIC, NOT_ISSUED = "smsp__pcsamp_warps_issue_stalled_", "_not_issued"
REASONS = (
    *("barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle"),
    *("long_scoreboard", "math_pipe_throttle", "membar", "mio_throttle", "misc", "no_instructions"),
    *("not_selected", "selected", "short_scoreboard", "sleeping", "tex_throttle", "wait", "warpgroup_arrive"),
)
"""What is asked for; a GPU has those of its architecture."""
INTERVAL, DROPPED = "smsp__pcsamp_interval_cycles", "smsp__pcsamp_dropped_bytes"
PASSES, DURATION = "smsp__pcsamp_aggregated_passes", "gpu__time_duration.sum"
NAME, ADDRESS, SOURCE = "Kernel Name", "Address", "Source"
MARK = "plain_ns:"
"""Before the list of what launches took without being watched, in a line of its own."""
NUMBER = re.compile(r"-?\d+(\.\d+)?")
VERSION = re.compile(r"Version (\d+\.\d+\.\d+)")


class UnreadableError(Exception):
    """What was printed is not what ncu prints; the text is a clause that says what it lacks."""


class SampledInstruction(NamedTuple):
    """An instruction with its samples.

    Attributes:
        address: Bytes from the kernel's first.
        text: As ncu writes it; targets of branches are absolute.
        samples: By the reasons of its kernel.
        idle: Those in cycles in which the quarter of the SM issued nothing.
    """

    address: int
    text: str
    samples: tuple[int, ...]
    idle: int


class PrintedLaunch(NamedTuple):
    """A launch that was sampled.

    Attributes:
        entry: The kernel's name.
        reasons: NVIDIA's names of the reasons that this GPU tells.
        instructions: By address, without the padding at the end.
    """

    entry: str
    reasons: tuple[str, ...]
    instructions: list[SampledInstruction]

    @property
    def total(self) -> int:
        """All samples."""
        return sum(sum(one.samples) for one in self.instructions)


def read_samples(printed: str) -> list[PrintedLaunch]:
    """The launches of a source page (`--page source --csv`), in their order.

    Raises:
        UnreadableError: There is none, or a line of one is no instruction with its samples.
    """
    kernels: list[PrintedLaunch] = []
    entry, columns = "", _Columns({}, {}, -1, -1)
    for line in _table(printed):
        if line[0] == NAME:
            entry = line[1] if len(line) > 1 else ""
        elif ADDRESS in line and SOURCE in line:
            columns = _Columns.of(line)
            kernels.append(PrintedLaunch(entry, tuple(columns.samples), []))
        elif kernels:
            kernels[-1].instructions.append(columns.read(line, kernels[-1].instructions))
    if not kernels:
        raise UnreadableError("there is no table of instructions")
    for kernel in kernels:
        _without_padding(kernel.instructions)
    return [kernel._replace(instructions=_from_first(kernel.instructions)) for kernel in kernels]


class _Columns(NamedTuple):
    """Where what stands: samples, and those of idle cycles, by reason."""

    samples: dict[str, int]
    idle: dict[str, int]
    address: int
    source: int

    @classmethod
    def of(cls, head: Sequence[str]) -> "_Columns":
        """Of a table's first line."""
        samples: dict[str, int] = {}
        idle: dict[str, int] = {}
        for at, name in enumerate(head):
            if name.startswith(METRIC):
                reason = name.removeprefix(METRIC)
                (idle if reason.endswith(NOT_ISSUED) else samples)[reason.removesuffix(NOT_ISSUED)] = at
        if not samples:
            raise UnreadableError("no column has samples of a reason")
        return cls(samples, idle, head.index(ADDRESS), head.index(SOURCE))

    def read(self, line: Sequence[str], before: Sequence[SampledInstruction]) -> SampledInstruction:
        """An instruction behind others."""
        try:
            address = int(line[self.address], 0)
            samples = tuple(_number(line[at]) for at in self.samples.values())
            idle = sum(_number(line[at]) for at in self.idle.values())
            text = " ".join(line[self.source].split())
        except (ValueError, IndexError) as error:
            raise UnreadableError(f"instruction {len(before) + 1} is {','.join(line)[:80]!r}") from error
        return SampledInstruction(address, text, samples, idle)


def _table(printed: str) -> Iterator[list[str]]:
    """The lines of tables among whatever else was printed."""
    yield from csv.reader(line for line in printed.splitlines() if line.startswith('"'))


def _number(text: str) -> int:
    """A whole number; what there is nothing of is 0."""
    return int(text.replace(",", "") or "0")


def _without_padding(instructions: list[SampledInstruction]) -> None:
    while instructions and instructions[-1].text == "NOP" and not any(instructions[-1].samples):
        instructions.pop()


def _from_first(instructions: Sequence[SampledInstruction]) -> list[SampledInstruction]:
    first = instructions[0].address if instructions else 0
    return [one._replace(address=one.address - first) for one in instructions]


def read_counters(printed: str) -> list[dict[str, float]]:
    """The numbers of each launch of a raw page (`--page raw --csv --print-units base`), by their names.

    Raises:
        UnreadableError: There is no table.
    """
    lines = list(_table(printed))
    if len(lines) < 3 or "ID" not in lines[0]:  # noqa: PLR2004 - names, units and a launch
        raise UnreadableError("there is no table of counters")
    return [dict(_numbers(lines[0], line)) for line in lines[2:]]


def _numbers(head: Sequence[str], line: Sequence[str]) -> Iterator[tuple[str, float]]:
    for name, text in zip(head, line, strict=False):
        plain = text.replace(",", "")
        if NUMBER.fullmatch(plain):  # others are texts
            yield name, float(plain)


def read_version(printed: str) -> str:
    """The version that `ncu --version` prints, as `2025.3.1`; empty: it prints none."""
    found = VERSION.search(printed)
    return found[1] if found else ""
