"""The command line of `audit`."""

import pytest

from flashscope.app import cli


@pytest.mark.parametrize(
    ("beside", "told"),
    [(("--batch", "2"), "--batch"), (("--seqlen", "64", "--batch", "3"), "--batch and --seqlen")],
)
def test_lengths_are_refused_beside_what_says_how_many_or_how_long_sequences_are(
    beside: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["audit", "no-model", "--lengths", "33,1,20", *beside]) == 2
    assert f"a length for each sequence; leave out {told}" in capsys.readouterr().err
