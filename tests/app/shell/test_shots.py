"""Pictures of every view: what is shown on them."""

from pathlib import Path

from flashscope.app.shell.shots import compared_with


def test_a_copy_of_a_recording_is_not_compared_with_that_recording() -> None:
    copy, others = Path("home/two"), [Path("bundled/one"), Path("bundled/two"), Path("bundled/three")]
    assert compared_with(copy, others) == [copy, others[0], others[2]]
    assert compared_with(None, others) == others
