"""What the program's exit codes mean; 0 is done."""

FAILED = 1
USAGE_ERROR = 2
SIGNALLED = 128  # plus the signal's number, by the shell's convention
INTERRUPTED = SIGNALLED + 2  # by Ctrl-C
