"""A sweep of which some points fail."""

from tests.profiles.sessions import make_plan, script

KERNELS = ("standard", "flash2")

LENGTHS = (512, 1024, 2048)

FAILURES = {
    ("standard", 1024): ("timeout", "It took longer than 120 s."),
    ("standard", 2048): ("oom", "Full."),
}

EVENTS = script(make_plan(KERNELS, LENGTHS), FAILURES)  # type: ignore[arg-type]  # literals
