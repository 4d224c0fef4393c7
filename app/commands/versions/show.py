"""`versions FILE...`: the versions of a kernel that was watched, and what lies between two of them."""

from collections.abc import Sequence
from pathlib import Path

from flashscope.app.commands.messages import say, say_json
from flashscope.app.commands.printed.code import print_difference
from flashscope.app.commands.printed.printing import print_table
from flashscope.app.words.own.line_diff import unified
from flashscope.app.words.own.versions import HEADINGS, RATIOS, change_texts, changes_sentence, version_lines
from flashscope.kernels.workload.errors import InputError
from flashscope.profiles.store import load
from flashscope.profiles.watching.document import changes_document, version_document
from flashscope.profiles.watching.versions import Strip, Version, changes, version_of


def run(files: Sequence[Path], *, between: tuple[int, int] | None, form: str | None, as_json: bool) -> int:
    """Print a line for each version, or of two versions their figures side by side and their sources."""
    strip = Strip()
    paths: dict[int, Path] = {}
    for file in files:
        version = version_of(load(file))
        if version is None:
            raise InputError(f"{file} is no session of a version; sweep --watch makes such sessions")
        if version.number in paths:
            if file.samefile(paths[version.number]):
                raise InputError(f"{file} is given twice; name each version once")
            raise InputError(f"{paths[version.number]} and {file} are both of version {version.number}")
        strip.add(version)
        paths[version.number] = file
    if between is None:
        _print_strip(strip, paths, as_json=as_json)
    else:
        older, newer = (_of(strip, number) for number in sorted(between))
        _print_change(older, newer, form, as_json=as_json)
    return 0


def _of(strip: Strip, number: int) -> Version:
    try:
        return strip.of(number)
    except KeyError as error:
        there = ", ".join(str(one.number) for one in strip.versions)
        raise InputError(f"there is no version {number} in these files; there are {there}") from error


def _print_strip(strip: Strip, paths: dict[int, Path], *, as_json: bool) -> None:
    if as_json:
        say_json({"versions": [version_document(one, paths[one.number]) for one in strip.versions]})
        return
    say(RATIOS)
    for version in strip.versions:
        for line in version_lines(version):
            say(line)


def _print_change(older: Version, newer: Version, form: str | None, *, as_json: bool) -> None:
    found, names = changes(older, newer), (older.name, newer.name)
    difference = unified(older.source, newer.source, names)
    if as_json:
        say_json(changes_document(older, newer, found, difference))
        return
    say(changes_sentence(older, newer, found))
    if found:
        print_table(HEADINGS, [change_texts(one) for one in found])
    if not difference:
        say("Their sources are the same.")
    else:
        print_difference((older.source, newer.source), names, form)
