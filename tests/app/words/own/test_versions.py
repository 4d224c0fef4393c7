"""A version in a line: verdict, times, ratios, what is wrong; and what two versions' figures say."""

from flashscope.app.words.own.versions import changes_sentence, version_lines
from flashscope.kernels.workload.problem import Problem
from flashscope.profiles.results.statistics.bootstrap import Interval
from flashscope.profiles.results.statistics.stats import Quartiles
from flashscope.profiles.watching.versions import RIGHT, PeerRatio, Version, VersionCell, changes

SHORT, LONG = (Problem(seqlen_q=n, seqlen_k=n) for n in (1024, 4096))
OLD, NEW = Quartiles(2.9, 3.0, 3.1, 9), Quartiles(1.4, 1.5, 1.6, 9)
SURE, UNSURE = Interval(1.9, 2.1), Interval(0.9, 2.2)
SAVED = "2026-11-26T10:20:30.000+00:00"


def cell(problem: Problem, *ratios: PeerRatio, doubts: tuple[str, ...] = ()) -> VersionCell:
    trust = "doubtful" if doubts else "solid"
    return VersionCell(problem, "done", "", NEW, (1.5,) * 9, ratios, trust, doubts)


def version(number: int, *cells: VersionCell, verdict: str = RIGHT, reason: str = "") -> Version:
    return Version(
        number, f"mine-v{number}", "0" * 64, SAVED, verdict, reason, "", "ab" * 20, True, cells=cells
    )


def test_a_version_on_one_problem_is_one_line() -> None:
    ratios = PeerRatio("mine-v1", 2.0, SURE, OLD), PeerRatio("flash2", 0.5, None, OLD)
    assert version_lines(version(2, cell(SHORT, *ratios, doubts=("a spread", "a drift")))) == [
        (
            "v2, 10:20:30, right, 1.50 ms (1.40 to 1.60), 2.00× mine-v1 (1.900 to 2.100), 0.500× flash2, "
            "doubtful: a spread, commit abababab and changes"
        )
    ]


def test_a_version_on_several_problems_has_a_line_for_each() -> None:
    first, *others = version_lines(version(2, cell(SHORT), cell(LONG, PeerRatio("flash2", 2.0, SURE, OLD))))
    assert first == "v2, 10:20:30, right, commit abababab and changes"
    assert others == [
        "  N = 1k: 1.50 ms (1.40 to 1.60)",
        "  N = 4k: 1.50 ms (1.40 to 1.60), 2.00× flash2 (1.900 to 2.100)",
    ]


def test_a_version_that_is_not_right_says_why_and_no_time() -> None:
    wrong = VersionCell(SHORT, "wrong", "O is off.", NEW, (1.5,), (), "doubtful", ("its output failed",))
    assert version_lines(version(3, wrong, verdict="wrong", reason="O is off.")) == [
        "v3, 10:20:30, wrong, O is off, commit abababab and changes"
    ]


def test_a_difference_that_the_interval_does_not_show_is_said() -> None:
    older = version(1, cell(SHORT))
    for interval, told in (
        (SURE, "v2 is 2.00× as fast as v1 at N = 1k."),
        (UNSURE, "v2 is 2.00× as fast as v1 at N = 1k; the interval holds 1: no difference is shown."),
        (None, "v2 is 2.00× as fast as v1 at N = 1k; too few samples to know whether that is a difference."),
    ):
        newer = version(2, cell(SHORT, PeerRatio("mine-v1", 2.0, interval, OLD)))
        assert changes_sentence(older, newer, changes(older, newer)) == told


def test_versions_of_which_one_is_not_right_do_not_compare() -> None:
    wrong = version(2, verdict="unreadable", reason="mine.py, line 1")
    older = version(1, cell(SHORT))
    told = "v1 and v2 do not compare: v2 is unreadable."
    assert changes_sentence(older, wrong, changes(older, wrong)) == told
    apart = version(3, cell(LONG))
    told = "v1 and v3 do not compare: they have no problem in common."
    assert changes_sentence(older, apart, changes(older, apart)) == told
