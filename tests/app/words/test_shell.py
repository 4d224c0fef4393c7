"""Whatever a name holds, a shell gives it back as it was, and a line shows all of it."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.app.words.command_line import compare_line, repeating
from flashscope.app.words.shell import path_text, shell_line
from flashscope.profiles.plan.request import Request
from flashscope.profiles.wire.text import harmless

BASH = "/bin/bash"
STRANGE = [
    "plain.flashscope",
    "two words",
    "it's",
    "new\nline",
    "tab\tand \x1b[31mred\x07",
    "back\\slash 'and' quotes\r",
    "größe",
    os.fsdecode(b"not utf-8: \xff\xfe"),
    "turned \u202e round",
    "",
]


@pytest.mark.parametrize("word", STRANGE)
def test_a_word_goes_through_a_shell_unchanged_on_one_line_without_controls(word: str) -> None:
    line = shell_line([word])
    assert harmless(line) == line
    assert "\n" not in line
    printed = subprocess.run([BASH, "-c", f"printf %s {line}"], capture_output=True, check=True).stdout
    assert printed == os.fsencode(word)


@pytest.mark.parametrize("name", [one for one in STRANGE if one])
@pytest.mark.parametrize("encoding", ["utf-8", "ascii"])
def test_a_path_that_a_stream_cannot_show_is_written_as_a_shell_takes_it(name: str, encoding: str) -> None:
    text = path_text(Path(name), encoding)
    assert text.encode(encoding).decode(encoding) == harmless(text)
    if text != name:
        printed = subprocess.run([BASH, "-c", f"printf %s {text}"], capture_output=True, check=True).stdout
        assert printed == os.fsencode(name)


def test_a_copied_comparison_holds_no_control_characters() -> None:
    line = compare_line([[Path("a\x1b[2J.flashscope")], [Path("b\n.flashscope")]], "runtime")
    assert harmless(line) == line
    assert "\n" not in line


def test_no_command_is_offered_for_a_kernel_whose_name_would_read_as_two() -> None:
    plan = Request.of("cpu", kernels=("flash1", "flash2"), seqlens=(64,)).plan()
    assert repeating(plan, plan.problems) is not None
    assert repeating(replace(plan, kernels=("flash1,flash2",)), plan.problems) is None
