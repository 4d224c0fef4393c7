"""What a sweep says of files of one's own before any of them runs."""

import pytest

from flashscope.app.commands.sweep import OWN_RIGHTS, RIGHTS_THERE, with_files


@pytest.mark.parametrize(
    ("rights", "files", "told"),
    [
        (OWN_RIGHTS, ("a.py",), "a.py runs with your rights, "),
        (OWN_RIGHTS, ("a.py", "b.py", "c.py"), "a.py, b.py and c.py run with your rights, "),
        (RIGHTS_THERE, ("a.py",), "a.py is sent, and runs there with "),
        (RIGHTS_THERE, ("a.py", "b.py"), "a.py and b.py are sent, and run there with "),
    ],
)
def test_whose_rights_files_run_with_is_a_sentence_on_one_and_on_several(
    rights: str, files: tuple[str, ...], told: str
) -> None:
    assert with_files(rights, files).startswith(told)
