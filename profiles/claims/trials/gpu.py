"""Claims that only a GPU of a certain kind could test, or that need days of training."""

from profiles.claims.model import Trial, not_here


def needs_gpu(name: str, why: str) -> Trial:
    """A figure of one kind of GPU."""
    return not_here(f"needs {name}: {why}")


def needs_training(what: str) -> Trial:
    """The outcome of a training run."""
    return not_here(f"needs {what}")


def history(why: str) -> Trial:
    """What other programs or models did."""
    return not_here(why)
