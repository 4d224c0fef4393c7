"""Runs of one plan as one point over time: their median, from the least to the largest."""

from collections.abc import Mapping, Sequence
from statistics import median

from msgspec.structs import replace

from flashscope.app.words.results.sessions import runs_named
from flashscope.profiles.results.findings.trend import Entry, Kind
from flashscope.profiles.results.model.dates import moment
from flashscope.profiles.results.model.families import Kinship, families
from flashscope.profiles.store import SessionInfo
from flashscope.profiles.wire.measurement import Figure

TOLD = "a point of several runs: their median, from the least to the largest"


def joined(entries: Sequence[Entry], infos: Mapping[str, SessionInfo]) -> list[Entry]:
    """Entries with a figure, those of one plan's runs in one; `infos`: what each file is, by its name."""

    def kinship(entry: Entry) -> Kinship:
        info = infos[entry.file]
        return Kinship(info.run_mark, info.id, info.path)

    of_kind: dict[Kind, list[Entry]] = {}
    for entry in entries:
        of_kind.setdefault(entry.kind, []).append(entry)
    found = (family for some in of_kind.values() for family in families(some, kinship))
    return [_together(family.runs, infos) for family in found]


def _together(runs: Sequence[Entry], infos: Mapping[str, SessionInfo]) -> Entry:
    newest = max(runs, key=lambda entry: moment(entry.started_at))
    if len(runs) == 1:
        return newest
    values = [float(one.figure.value) for one in runs if one.figure and one.figure.value is not None]
    figure = Figure(value=median(values), low=min(values), high=max(values), source=f"{len(runs)} runs")
    name = runs_named([one.title for one in runs], [infos[one.file].run_mark for one in runs])
    return replace(newest, name=f"{name}, {len(runs)} runs", figure=figure)
