"""The command line: one parser; each command's module is imported when it is asked for."""

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from app.arguments import (
    block_pattern,
    folder,
    kernel_list,
    new_file,
    numbers,
    peers,
    positive,
    seconds,
    seed,
    seqlen_list,
    window,
)
from kernels.block_pattern import BLOCK, EXAMPLES
from kernels.errors import InputError, KernelError
from kernels.problem import DTYPES
from profiles.presets import PRESETS
from profiles.store.errors import SessionFileError

PROGRAM = "python main.py"  # what a user types
USAGE_ERROR = 2
FAILED = 1
INTERRUPTED = 130


class Parser(argparse.ArgumentParser):
    """An argument parser that reports what is wrong in one line."""

    def error(self, message: str) -> NoReturn:
        """Print one line and exit with code 2."""
        self.exit(
            USAGE_ERROR,
            f"{self.prog.replace(PROGRAM, 'flashscope', 1)}: {message} (see {self.prog} --help)\n",
        )


def main(arguments: Sequence[str]) -> int:
    """Run one command, or open the window; returns the exit code."""
    parser = make_parser()
    options = parser.parse_args(_spelled_out(arguments))
    if options.command == "sweep" and options.preset is not None and _says_problem(options):
        parser.error("--preset names its own problems; leave out --seqlen, --dtype and the like")
    if options.command == "sweep" and options.block_size and not options.block_mask:
        parser.error("--block-size belongs to --block-mask; name a pattern, as --block-mask local:4")
    command = import_module(f"app.commands.{options.command}")
    try:
        code: int = command.run(options)
        sys.stdout.flush()
    except (SessionFileError, KernelError) as error:
        sys.stderr.write(f"flashscope {options.command}: {error}\n")
        return USAGE_ERROR if isinstance(error, InputError) else FAILED
    except BrokenPipeError:  # whoever reads the output has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def make_parser() -> Parser:
    """The one parser of the program."""
    parser = Parser(
        prog=PROGRAM,
        description="Runs attention kernels and shows why tiling wins. "
        "No command: open the window, with a session in it when FILE is given (python main.py FILE).",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)
    window = commands.add_parser("window", help="open the window, with a session in it when FILE is given")
    window.add_argument("file", nargs="?", type=Path, metavar="FILE")
    _add_sweep(commands.add_parser("sweep", help="measure kernels over sequence lengths", allow_abbrev=False))
    show = commands.add_parser("show", help="print a saved session", allow_abbrev=False)
    show.add_argument("file", type=Path, metavar="FILE")
    formats = show.add_mutually_exclusive_group()
    _add_json(formats)
    formats.add_argument("--csv", action="store_true", help="print a CSV table with a header of metadata")
    against = "print ratios to a kernel, or to the fastest of several"
    formats.add_argument("--against", type=peers, metavar="A,B", help=against)
    _add_trace(commands.add_parser("trace", help="walk the online softmax of one row", allow_abbrev=False))
    _add_json(commands.add_parser("kernels", help="list the kernels and where they run", allow_abbrev=False))
    _add_json(
        commands.add_parser("doctor", help="say what is missing here, and the remedy", allow_abbrev=False)
    )
    shots = commands.add_parser("shots", help="render every page to PNG files", allow_abbrev=False)
    shots.add_argument("folder", type=folder, metavar="DIR")
    shots.add_argument("--open", type=Path, metavar="FILE", help="a session to show on the pages")
    return parser


def _add_sweep(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--backend", choices=("auto", "cuda", "cpu"), default="auto", help="auto: cuda if usable, else cpu")
    add("--preset", choices=PRESETS, help="a sweep with a name: peers compares with PyTorch's kernels")
    add(
        "--kernels",
        type=kernel_list,
        metavar="A,B",
        help="default: standard, flash1, flash2, flash3 where they run; with a preset all; auto: the fastest",
    )
    add(
        "--seqlen",
        type=seqlen_list,
        metavar="LENGTHS",
        help="256:4096 (doubling), 256:1024:256 or 256,384,1000",
    )
    add("--head-dim", type=positive, default=64, metavar="D")
    add("--heads", type=positive, metavar="H", help="default: 16 on cuda, 2 on cpu")
    add("--kv-heads", type=positive, metavar="H", help="key and value heads, a divisor; default: as many")
    add("--batch", type=positive, default=1, metavar="B")
    add("--dtype", choices=DTYPES, help="default: float16 on cuda, float32 on cpu")
    add("--causal", action="store_true", help="mask keys after the query")
    add("--window", type=window, metavar="L,R", help="keep L keys before and R after the query; -1: all")
    add(
        "--block-mask",
        type=block_pattern,
        metavar="PATTERN",
        help=f"keep blocks of the scores: {', '.join(EXAMPLES[:4])}",
    )
    add("--block-size", type=positive, metavar="B", help=f"queries and keys of a block; default: {BLOCK}")
    add("--repeats", type=positive, default=10, metavar="R", help="timed runs of each point")
    add("--time-cap", type=seconds, default=10.0, metavar="S", help="stop sampling a point after S seconds")
    add("--warm", action="store_true", help="leave the cache as it is between runs; default: flush it (cold)")
    add("--no-verify", action="store_true", help="skip the comparison with the float64 reference")
    add("--no-interleave", action="store_true", help="sample kernel after kernel; default: in turns, A B A B")
    add("--shuffle", action="store_true", help="problems in an order drawn from the seed; default: as listed")
    add("--no-drift-check", action="store_true", help="do not measure what came first again at the end")
    add("--seed", type=seed, default=0, help="seed of the random inputs, and of --shuffle")
    add(
        "--out",
        type=new_file,
        metavar="FILE",
        help="the session file; default: a new one among your sessions",
    )
    _add_json(parser)


def _says_problem(options: argparse.Namespace) -> bool:
    """Whether an option that makes problems was given another value than its default."""
    choices = (options.seqlen, options.heads, options.kv_heads, options.dtype, options.causal, options.window)
    blocks = (options.block_mask, options.block_size)
    return any((*choices, *blocks)) or (options.head_dim, options.batch) != (64, 1)


def _add_trace(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--scores", type=numbers, required=True, metavar="S,S,...", help="the row of scores")
    add("--values", type=numbers, metavar="V,V,...", help="one value a score; default: 1, 2, 3, ...")
    add("--block", type=positive, default=2, metavar="B", help="scores in a block")
    add("--reverse", action="store_true", help="walk the blocks from the last to the first")
    add("--order", choices=("flash1", "flash2"), default="flash2", help="loop order of the kernel")
    _add_json(parser)


def _add_json(parser: argparse._ActionsContainer) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else")


def _spelled_out(arguments: Sequence[str]) -> list[str]:
    """The arguments with the window's command in front where it was left out, and `--scores -1,2` joined."""
    known = ("window", "sweep", "show", "trace", "kernels", "doctor", "shots", "-h", "--help")
    spelled = list(arguments) if arguments and arguments[0] in known else ["window", *arguments]
    for option in (
        "--scores",
        "--values",
        "--window",
    ):  # argparse takes a list that starts with a minus for an option
        if option in spelled[:-1]:
            place = spelled.index(option)
            spelled[place : place + 2] = [f"{option}={spelled[place + 1]}"]
    return spelled
