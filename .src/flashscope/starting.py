"""Where a process of ours begins, see profiles/wire/process.py: a script, run by its path.

    python starting.py COUNT PATH... PROGRAM MODULE:FUNCTION ARGUMENT...

Python looks for modules beside a script, and beside this one lies none that another could be taken for. With
`-c` and `-m` it would look in the working folder, and does so before the first line (3.13).
"""

import sys

if __name__ == "__main__":
    rest = int(sys.argv[1]) + 2
    sys.path[:] = sys.argv[2:rest]
    from flashscope.profiles.wire.process import call

    call(*sys.argv[rest:])
