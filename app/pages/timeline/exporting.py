"""What the Timeline page writes: pictures and numbers of what is on show, and a trace for ui.perfetto.dev."""

from collections.abc import Sequence

from PySide6.QtCore import QSize

from flashscope.app.look.theme import Theme
from flashscope.app.look.zoom import px
from flashscope.app.pages.timeline.card import LanesCard
from flashscope.app.pages.timeline.shown_timelines import DrawnTimeline
from flashscope.app.plots.export.contents import Export
from flashscope.app.report.kinds import KINDS
from flashscope.app.widgets.dialogs.file_writer import WrittenKind
from flashscope.app.words.inside.timelines import overhead_text, problem_words, run_name, sentence
from flashscope.app.words.version import own_version
from flashscope.kernels.workload.timeline import STAGES, StageTimeline
from flashscope.profiles.results.formats.perfetto_timeline import timelines_to_perfetto

PICTURE = (900, 160)
PERFETTO = WrittenKind(
    "Save for ui.perfetto.dev",
    KINDS["perfetto"].title,
    KINDS["perfetto"].suffix,
    "open it at ui.perfetto.dev",
)
COLUMNS = ("kernel", "row", "lane", "stage", "head", "i", "j", "begin_ns", "end_ns")


def timelines_export(
    drawn: Sequence[DrawnTimeline], cards: Sequence[LanesCard], theme: Theme
) -> Export | None:
    """What the export menu writes; None while there is nothing to show."""
    if not drawn:
        return None
    timelines, facts = [one.rows.timeline for one in drawn], [one.facts for one in drawn]
    told = [*map(overhead_text, timelines, facts)]
    heads = [f"{run_name(one.request)}: {words}" for one, words in zip(timelines, told, strict=True)]
    return Export(
        title=f"Stages over time since the run began, {problem_words(timelines[0].request.problem)}",
        headline=sentence(timelines, facts),
        name="timeline",
        plots=[card.plot for card in cards],
        theme=theme,
        provenance={
            "device": timelines[0].device,
            **_about(heads, timelines),
            "written by": f"Flashscope {own_version()}",
        },
        columns=COLUMNS,
        rows=(line for one in timelines for line in _lines(one)),
        least=QSize(*map(px, PICTURE)),
        heads=heads,
    )


def _about(heads: Sequence[str], timelines: Sequence[StageTimeline]) -> dict[str, str]:
    """What recorded each of them, and what its clocks cost."""
    told = enumerate(zip(heads, timelines, strict=True), 1)
    return {f"timeline {n}": f"{head}; build {one.build}; {one.source}" for n, (head, one) in told}


def _lines(timeline: StageTimeline) -> Sequence[tuple[str | int, ...]]:
    """A line for each bar."""
    rows, lanes = timeline.rows.numpy().tolist(), timeline.lanes
    columns = (timeline.lane, timeline.stage, timeline.tile, timeline.begin, timeline.end)
    told = zip(*(array.numpy().tolist() for array in columns), strict=True)
    return [
        (
            timeline.request.kernel,
            f"{timeline.row_kind} {rows[lane // len(lanes)]}",
            lanes[lane % len(lanes)],
            STAGES[stage],
            *tile,
            begin,
            end,
        )
        for lane, stage, tile, begin, end in told
    ]


def perfetto_of(drawn: Sequence[DrawnTimeline]) -> bytes:
    """These as a trace for ui.perfetto.dev."""
    return timelines_to_perfetto([one.rows.timeline for one in drawn])
