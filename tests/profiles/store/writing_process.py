"""Records a long sweep (of as many points as asked for) and acknowledges every event on stdout."""

import sys
from pathlib import Path

from flashscope.profiles.store import Recorder
from flashscope.profiles.wire.events import PointStarted
from tests.profiles.store import builders


def acknowledge(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> None:
    plan = builders.plan(seqlens=tuple(range(1, 1 + int(sys.argv[2]))), kernels=("flash2",))
    recorder = Recorder(Path(sys.argv[1]))
    recorder.record(builders.plan_started(plan))
    for point in plan.points():
        recorder.record(PointStarted(index=point.index, t_ns=point.index))
        acknowledge(f"started {point.index}")
        for event in builders.measured(point.index, point.index):
            recorder.record(event)
        acknowledge(f"done {point.index}")


if __name__ == "__main__":
    main()
