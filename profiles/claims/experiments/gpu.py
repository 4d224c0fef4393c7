"""Claims that only a GPU of a certain kind could test, or that need days of training."""

from flashscope.profiles.claims.model import Experiment, not_here


def needs_gpu(name: str, why: str) -> Experiment:
    """A figure of one kind of GPU."""
    return not_here(f"needs {name}: {why}")


def needs_training(what: str) -> Experiment:
    """The outcome of a training run."""
    return not_here(f"needs {what}")


def history(why: str) -> Experiment:
    """What other programs or models did."""
    return not_here(why)
