"""Whether the CUDA sources still compile to the same machine code, on a machine without a GPU.

    python -m tests.kernels.cuda.machine_code record OLD                    # at one commit
    python -m tests.kernels.cuda.machine_code record NEW --like OLD         # at another one
    python -m tests.kernels.cuda.machine_code compare OLD NEW

`record` compiles the covering builds of `builds.py` into a folder: of each its cubin, and what ptxas says of
it. What lies there already is compiled again only if its source, an include or an option changed. `--only
PATTERN` takes the builds whose name or source has the regular expression, `--every` all of them: hours.
`--like` takes those that another folder has, by their names.

`compare` reads from each pair of cubins what a GPU runs: the instructions of every kernel (`.text`) with
their relocations, the constants but for the parameters' bank, static shared memory, and registers, stack,
spills and barriers as ptxas reports them. Not compared: names of parameters and symbols, debugging's tables,
and the hash of the includes, which is an option alone; nor global variables, which are `constexpr` ones,
unless an instruction reads any. Where instructions differ, both are disassembled: `parameters alone` means
that every instruction is the same one, with the same scheduling bits, but for offsets in the bank of the
parameters, and the registers are equal. It exits 1 if anything else is found.
"""

import argparse
import hashlib
import json
import os
import re
import struct
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import zip_longest
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from flashscope.kernels.catalogue.spec import HEAD_DIMS
from flashscope.kernels.cuda.compile import INCLUDES, compile_offline, options, read_source
from flashscope.kernels.cuda.design.compiling import REPORT
from flashscope.kernels.workload.errors import CompileError
from tests.kernels.cuda.builds import Build, covering, every_build, named
from tests.kernels.cuda.cubin import code_of, disassembled, globals_of

INDEX = "builds.json"
PARAMETERS = (
    0x160  # the bank of the parameters begins there at the earliest (sm_75); it holds launch sizes before
)
INCLUDE = re.compile(r'^\s*#include "(.*)"', re.MULTILINE)
CONSTANT = re.compile(r"c\[0x0\]\[(0x[0-9a-f]+|\w+\+0x[0-9a-f]+)\]")
ADDRESS = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/")  # the address before an instruction
SCHEDULING = 105 - 64  # bit of an instruction's upper half where stalls and barriers begin
SHOWN = 6  # differing lines of a kernel


def main(arguments: Sequence[str]) -> int:
    """Record or compare; the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, dest="command")
    recording = commands.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only", default="", metavar="PATTERN")
    chosen = recording.add_mutually_exclusive_group()
    chosen.add_argument("--every", action="store_true")
    chosen.add_argument("--like", type=Path, metavar="FOLDER")
    comparing = commands.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--only", default="", metavar="PATTERN")
    asked = parser.parse_args(arguments)
    if asked.command == "compare":
        return compare(asked.old, asked.new, asked.only)
    record(asked.folder, _chosen(asked))
    return 0


def _chosen(asked: argparse.Namespace) -> list[Build]:
    if asked.like:
        builds = named(json.loads((asked.like / INDEX).read_text()))
    else:
        builds = every_build(HEAD_DIMS) if asked.every else covering(every_build())
    return [build for build in builds if re.search(asked.only, f"{build.name} {build.program.source}")]


def record(folder: Path, builds: Sequence[Build]) -> None:
    """Compile the builds into a folder, beside what it holds; unchanged ones are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    index = json.loads((folder / INDEX).read_text()) if (folder / INDEX).exists() else {}
    changed = [build for build in builds if index.get(build.name, {}).get("key") != _key(build)]
    _say(f"{len(builds)} builds, {len(changed)} to compile")
    workers = ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn"))
    with workers as pool:
        made = pool.map(_compile, changed)
        for number, (build, (cubin, log)) in enumerate(zip(changed, made, strict=True), 1):
            (folder / _file(build.name)).write_bytes(cubin)
            index[build.name] = {"key": _key(build), "source": build.program.source, "log": _resources(log)}
            index[build.name]["defines"] = build.program.defines
            if number % 50 == 0 or number == len(changed):
                (folder / INDEX).write_text(json.dumps(index, indent=1, default=int))
                _say(f"{number} of {len(changed)} compiled")


def _compile(build: Build) -> tuple[bytes, str]:
    try:
        return compile_offline(build.program, build.target)
    except CompileError as error:  # it cannot cross a process: pickle does not know its log
        raise RuntimeError(f"{build.name}: {error}\n{error.log[:2000]}") from None


def _key(build: Build) -> str:
    """What the machine code depends on: options but for the hash of all includes, and the texts read."""
    chosen = [option for option in options(build.program)[2:] if not option.startswith("-DINCLUDES_HASH")]
    return hashlib.sha256(repr((_texts(read_source(build.program)), chosen, build.arch)).encode()).hexdigest()


@cache
def _texts(source: str) -> str:
    """A hash of a source and of all that it includes, whatever the preprocessor then takes of it."""
    seen: dict[str, str] = {}
    left = INCLUDE.findall(source)
    while left:
        name = left.pop()
        if name not in seen:
            seen[name] = (INCLUDES / name).read_text(encoding="utf-8")
            left += INCLUDE.findall(seen[name])
    return hashlib.sha256(repr((source, sorted(seen.items()))).encode()).hexdigest()


def _file(name: str) -> str:
    return f"{hashlib.sha256(name.encode()).hexdigest()[:20]}.cubin"


def _resources(log: str) -> dict[str, list[str]]:
    """What ptxas says of each kernel, but for the size of the parameters' bank."""
    wanted = re.compile(r"\d+ bytes (?:stack frame|spill stores|spill loads|smem)|\d+ registers|\d+ barriers")
    return {entry: wanted.findall(text) for entry, text in REPORT.findall(log)}


def compare(old: Path, new: Path, only: str) -> int:
    """Print how many builds are the same, and each that is not; the exit code."""
    before, after = (json.loads((folder / INDEX).read_text()) for folder in (old, new))
    found: Counter[str] = Counter()
    for name in sorted(before.keys() & after.keys()):
        if re.search(only, f"{name} {before[name]['source']}"):
            kind, lines = _difference(old, new, name, before[name], after[name])
            found[kind] += 1
            if lines:
                _say(f"{kind}: {name} ({before[name]['source']})", *(f"    {line}" for line in lines))
    for said, names in (
        ("old alone", before.keys() - after.keys()),
        ("new alone", after.keys() - before.keys()),
    ):
        if names:
            _say(f"in {said}, not compared: {len(names)}")
    _say(*(f"{kind}: {count} builds" for kind, count in found.items()))
    return int(bool(found["other code"]))


def _difference(old: Path, new: Path, name: str, before: Any, after: Any) -> tuple[str, list[str]]:
    if before["log"] != after["log"]:
        return "other code", [f"{before['log']} became {after['log']}"]
    return difference(*((folder / _file(name)).read_bytes() for folder in (old, new)))


def difference(old: bytes, new: bytes) -> tuple[str, list[str]]:
    """How two cubins differ, and the lines that show it where it is more than offsets of parameters."""
    ours, theirs = code_of(old), code_of(new)
    lines = [] if globals_of(old) == globals_of(new) else _readers(old)
    if ours == theirs and not lines:
        return "the same", []
    lines += [f"section {part}" for part in sorted(ours.keys() ^ theirs.keys())]
    for part in sorted(ours.keys() & theirs.keys()):
        if ours[part] != theirs[part] and not _only_parameters_may_differ(part, ours[part], theirs[part]):
            lines.append(f"{part}: {len(ours[part])} bytes became {len(theirs[part])}")
    lines += _differing_lines(old, new)
    return ("other code", lines[:SHOWN]) if lines else ("parameters alone", [])


def _only_parameters_may_differ(part: str, ours: bytes, theirs: bytes) -> bool:
    return part.startswith(".text.") and _schedule(ours) == _schedule(theirs)


def _readers(cubin: bytes) -> list[str]:
    """The instructions that read variables that are no kernel's own: none, where these are constants."""
    return [line for line in _instructions(cubin) if "c[0x4]" in line]


def _schedule(text: bytes) -> list[int]:
    """Stalls and barriers of each instruction, which a disassembly does not show."""
    return [upper >> SCHEDULING for _, upper in struct.iter_unpack("<QQ", text)]


def _differing_lines(a: bytes, b: bytes) -> list[str]:
    pairs = zip_longest(_instructions(a), _instructions(b), fillvalue="nothing")
    return [f"{ours}  ->  {theirs}" for ours, theirs in pairs if _masked(ours) != _masked(theirs)]


def _masked(line: str) -> str:
    """An instruction without its offset in the bank of the parameters."""
    return CONSTANT.sub(lambda found: found[0] if _before_parameters(found[1]) else "c[parameter]", line)


def _before_parameters(offset: str) -> bool:
    return offset.startswith("0x") and int(offset, 16) < PARAMETERS


def _instructions(cubin: bytes) -> list[str]:
    """The instructions of all kernels as text, each kernel under its name."""
    lines = disassembled(cubin).splitlines()
    return [line.strip() for line in lines if ADDRESS.match(line) or line.startswith(".text.")]


def _say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
