"""A process of ours that runs Python: started so that no file of the user's takes the place of a module."""

import sys
from importlib import import_module
from multiprocessing.spawn import get_command_line

from flashscope import starting

MARK = str(starting.__file__)
"""What the command line of each such process holds, and of no other."""


def python_command(function: str, *arguments: str) -> list[str]:
    """What starts a process that calls a function and ends with what that returns.

    The process finds modules where this one does, but never in the working folder.

    Args:
        function: `module:function`.
        arguments: What it is called with.
    """
    path = [entry for entry in sys.path if entry]  # an empty one is the working folder
    _interpreter, *flags, _option, _program, _mark = get_command_line()  # the flags that this one was given
    return [sys.executable, *flags, MARK, str(len(path)), *path, sys.argv[0], function, *arguments]


def call(program: str, function: str, *arguments: str) -> None:
    """In the new process: call the function; `program` is what was typed to start the first one."""
    sys.argv[:] = [program, *arguments]
    module, _, name = function.partition(":")
    sys.exit(getattr(import_module(module), name)(*arguments))
