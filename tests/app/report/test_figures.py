"""The tables of a report: who is bold, and who only seems to be ahead."""

from flashscope.app.report.figures import over_seqlen
from tests.profiles.results.findings.test_headline import row


def bold(*times: float) -> list[str]:
    """The runtimes that stand out, of standard, flash1 and flash2."""
    rows = [row(name, ms) for name, ms in zip(("standard", "flash1", "flash2"), times, strict=True)]
    return [str(one.text).split(",")[0] for one in over_seqlen(rows, {}).iter("b")]


def test_of_a_tie_all_are_bold_and_else_the_fastest_alone() -> None:
    assert bold(9.0, 1.0, 1.004) == ["1.00 ms", "1.00 ms"]
    assert bold(9.0, 2.0, 1.0) == ["1.00 ms"]
