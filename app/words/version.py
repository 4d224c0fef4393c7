"""Which Flashscope this is."""


def own_version(otherwise: str = "from source") -> str:
    """The version that is installed; `otherwise` in a checkout that is run without being installed."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - slow, and seldom asked for

    try:
        return version("flashscope")
    except PackageNotFoundError:
        return otherwise
