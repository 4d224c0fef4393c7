"""The pages lead somewhere: links, anchors, paths, commands and options, and the size of the front door."""

import re
from importlib.util import find_spec

import click
import pytest

from flashscope.app.commands.program import program as command_line
from tests.texts.pages import PAGES, ROOT, anchors, code, links, text

LARGEST_BYTES = 9 * 1024
TOP = "app|kernels|profiles|tests|assets|\\.ci|\\.github"
NAMED = re.compile(r"main\.py ([a-z]+)(?![\w.])(.*)")
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*")


def test_the_front_door_is_nine_kilobytes_at_most() -> None:
    assert len(text("README.md").encode()) <= LARGEST_BYTES


def test_every_folder_of_code_and_the_projects_ways_have_a_page() -> None:
    assert {
        "README.md",
        "app/README.md",
        "kernels/README.md",
        "profiles/README.md",
        "tests/kernels/cuda/emulator/README.md",
        ".github/CONTRIBUTING.md",
        ".github/CHANGELOG.md",
    } <= {*PAGES}


@pytest.mark.parametrize("page", PAGES)
def test_every_relative_link_resolves(page: str) -> None:
    for link in links(page):
        if re.match(r"https?://", link):
            continue
        path, _, anchor = link.partition("#")
        target = ((ROOT / page).parent / path).resolve() if path else ROOT / page
        assert target.exists(), link
        assert target.is_relative_to(ROOT), link
        if anchor:
            assert anchor in anchors(target.relative_to(ROOT).as_posix()), link


@pytest.mark.parametrize("page", PAGES)
def test_every_page_can_be_reached_from_the_front_door(page: str) -> None:
    reached, waiting = {"README.md"}, ["README.md"]
    while waiting:
        at = waiting.pop()
        near = {((ROOT / at).parent / one.partition("#")[0]).resolve() for one in links(at) if ".md" in one}
        new = {one.relative_to(ROOT).as_posix() for one in near if one.is_relative_to(ROOT)} - reached
        reached |= new
        waiting += new
    assert page in reached


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_named_exists(page: str) -> None:
    for piece in code(page):
        for path in re.findall(rf"(?<![\w./-])(?:{TOP})/[\w./*-]*", piece):
            if "NAME" not in path:
                assert [*ROOT.glob(path.rstrip("."))], path


@pytest.mark.parametrize("page", PAGES)
def test_every_command_that_is_named_exists_with_its_options(page: str) -> None:
    for piece in code(page):
        for name, rest in NAMED.findall(piece):
            command = command_line.commands.get(name)
            assert command is not None, piece
            assert set(OPTION.findall(rest)) <= _options(command), piece
        name, _, rest = piece.partition(" ")
        if name in command_line.commands:
            assert set(OPTION.findall(rest)) <= _options(command_line.commands[name]), piece


@pytest.mark.parametrize("page", ["README.md", "app/README.md", "kernels/README.md", "profiles/README.md"])
def test_every_option_that_is_named_is_one_of_a_command(page: str) -> None:
    known = {option for command in command_line.commands.values() for option in _options(command)}
    for piece in code(page):
        if piece.startswith("--"):
            assert piece.split()[0] in known | {"--version", "--to"}, piece


@pytest.mark.parametrize("page", PAGES)
def test_every_module_that_is_run_exists(page: str) -> None:
    for piece in code(page):
        for module in re.findall(r"-m (\w+(?:\.\w+)+)", piece):
            assert find_spec(module), module


def test_the_map_names_every_room() -> None:
    house = text("README.md").partition("## Map of the house")[2]
    for folder in ("kernels", "profiles", "app"):
        (row,) = re.findall(rf"^\| \[{folder}/\].*$", house, re.MULTILINE)
        rooms = {one.parent.name for one in (ROOT / folder).glob("*/__init__.py")}
        assert rooms == {*re.findall(r"`(\w+)`", row)}


def test_the_map_leads_to_what_it_names() -> None:
    house = " ".join(text("README.md").partition("## Map of the house")[2].split())
    named = re.findall(r"`([\w.]+)` in \[[\w.]+\]\(([\w./]+)\)", house)
    assert len(named) > 5
    for names, path in named:
        source = (ROOT / path).read_text(encoding="utf-8")
        for name in names.split("."):
            assert re.search(rf"^\s*(def|class) {name}\b|^{name}\b", source, re.MULTILINE), (name, path)


def _options(command: click.Command) -> set[str]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    return {name for one in options for name in (*one.opts, *one.secondary_opts)} | {"--help"}
