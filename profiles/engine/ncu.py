"""Nsight Compute's ncu in a subprocess: the arbiter of what the counters in process say.

It runs the kernel in a process of its own (profiles.worker.arbiter), which fills the cache before a run and
after it as the counters in process do, so that both count the same; it leaves caches and clocks alone.
"""

import csv
import subprocess
from collections.abc import Mapping, Sequence
from statistics import median

import msgspec

from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.quantities.traffic import ARBITER
from flashscope.profiles.wire.measurement import Figure
from flashscope.profiles.wire.process import python_command
from flashscope.profiles.wire.traffic import NCU_RUNS
from flashscope.profiles.worker.ncu_tool import NO_PERMISSION

METRICS = {
    "dram__bytes_read.sum": "dram_read_bytes",
    "dram__bytes_write.sum": "dram_write_bytes",
    "lts__t_bytes.sum": "l2_bytes",
}
"""ncu's names, and the quantities that they are."""
READ, WRITTEN, L2 = METRICS.values()
RANGES = 2 * NCU_RUNS  # each run is counted alone, and with what fills the cache after it
UNITS = {"byte": 1, "kbyte": 1e3, "mbyte": 1e6, "gbyte": 1e9, "tbyte": 1e12}
TIMEOUT_S = 180
ARBITER_MAIN = "flashscope.profiles.worker.arbiter:main"


class NcuError(Exception):
    """ncu has no answer; the text is a clause that says why."""


def ncu_bytes(ncu: str, kernel: str, problem: Problem) -> dict[str, Figure]:
    """The `dram_bytes` of a cold run, with what is written back after it, and its `l2_bytes`.

    Raises:
        NcuError: ncu failed, or says nothing of them.
    """
    try:
        ended = subprocess.run(
            ncu_command(ncu, kernel, problem),
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NcuError(f"ncu did not answer: {error}") from error
    if NO_PERMISSION in ended.stdout + ended.stderr:
        raise NcuError(f"ncu may not read the counters either ({NO_PERMISSION})")
    return of_ranges(read_csv(ended.stdout))


def of_ranges(ranges: Sequence[Mapping[str, float]]) -> dict[str, Figure]:
    """Medians, least and most of the runs, of what was counted of each alone and with the fill after it.

    Raises:
        NcuError: These are not the ranges that there should be.
    """
    if len(ranges) != RANGES:
        raise NcuError(f"ncu counted {len(ranges)} ranges, not {RANGES}")
    pairs = list(zip(ranges[::2], ranges[1::2], strict=True))
    dram = [alone[READ] + max(alone[WRITTEN], filled[WRITTEN]) for alone, filled in pairs]
    return {"dram_bytes": _figure(dram), L2: _figure([alone[L2] for alone, _ in pairs])}


def _figure(values: Sequence[float]) -> Figure:
    told = f"{ARBITER}, {len(values)} runs"
    return Figure(value=median(values), low=min(values), high=max(values), source=told)


def ncu_command(ncu: str, kernel: str, problem: Problem) -> list[str]:
    """What counts the ranges of a kernel's runs, all launches of one together."""
    asked = ["--metrics", ",".join(METRICS), "--cache-control", "none", "--clock-control", "none"]
    told = ["--csv", "--page", "raw", "--print-units", "base", "--replay-mode", "app-range"]
    text = msgspec.json.encode(problem).decode()
    return [ncu, *asked, *told, *python_command(ARBITER_MAIN, "counters", kernel, text)]


def read_csv(printed: str) -> list[dict[str, float]]:
    """The metrics of each range that ncu counted, from its CSV among whatever else was printed.

    Takes a column a metric (`--page raw`, with a line of units) and a line a metric (the details page).

    Raises:
        NcuError: A metric is missing or is no number.
    """
    lines = list(csv.reader(line for line in printed.splitlines() if line.lstrip().startswith('"')))
    places = [place for place, line in enumerate(lines) if "ID" in line]
    if not places:
        last = next((line for line in reversed(printed.splitlines()) if line.strip()), "nothing")
        raise NcuError(f"ncu printed no table, but {last.strip()[:200]}")
    head, rows = lines[places[0]], lines[places[0] + 1 :]
    found: dict[str, dict[str, float]] = {}
    for number, name, unit, value in _long(head, rows) if "Metric Name" in head else _wide(head, rows):
        if name in METRICS:
            found.setdefault(number, {})[METRICS[name]] = _number(value, unit)
    for one in found.values() or ({},):
        missing = [name for name, key in METRICS.items() if key not in one]
        if missing:
            raise NcuError(f"ncu says nothing of {', '.join(missing)}")
    return list(found.values())


Told = Sequence[tuple[str, str, str, str]]  # a range's number, and name, unit and value of a metric


def _long(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Told:
    whole = [dict(zip(head, row, strict=False)) for row in rows if len(row) == len(head)]
    return [(row["ID"], row["Metric Name"], row.get("Metric Unit", ""), row["Metric Value"]) for row in whole]


def _wide(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Told:
    whole = [dict(zip(head, row, strict=False)) for row in rows if len(row) == len(head)]
    units: Mapping[str, str] = next((row for row in whole if not row["ID"].strip()), {})
    counted = [row for row in whole if row["ID"].strip()]
    return [
        (row["ID"], name, units.get(name, ""), row[name])
        for row in counted
        for name in METRICS
        if name in row
    ]


def _number(text: str, unit: str) -> float:
    try:
        return float(text.replace(",", "").replace(" ", "")) * UNITS[unit.strip().lower() or "byte"]
    except (ValueError, KeyError) as error:
        raise NcuError(f"ncu gives a metric as {text!r} {unit!r}, which is no number of bytes") from error
