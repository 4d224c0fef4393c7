"""What the window says of a kernel that is watched."""

import pytest

from flashscope.app.words.own.watching import watch_sentence


@pytest.mark.parametrize(
    ("active", "missing", "waits", "told"),
    [
        (
            True,
            "",
            "",
            "Watching mine.py: each save is timed beside the version before and flash2 and fused.",
        ),
        (True, "mine.py is not there", "", "mine.py is not there; waiting for it."),
        (True, "", "v2 waits: A sweep is running.", "v2 waits: A sweep is running."),
        (False, "mine.py is not there", "v2 waits", "mine.py is watched no more."),
    ],
)
def test_the_sentence_says_what_matters_most(active: bool, missing: str, waits: str, told: str) -> None:
    said = watch_sentence("mine.py", ("flash2", "fused"), active=active, missing=missing, waits=waits)
    assert said == told
