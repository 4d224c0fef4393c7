"""What FlashAttention's packages have in common: their order of axes, and how each names its version."""

from importlib.metadata import PackageNotFoundError, version

HEADS, ROWS = 1, 2  # axes of our arrays, and the other way round of FlashAttention's


def name_and_version(package: str) -> str:
    """A package as its distribution names its version."""
    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:  # it can be imported, but was not installed by a package manager
        return f"{package}, version unknown"
