"""Peers in folders of their own, where their pins cannot clash with those of others.

Such a folder is what `pip install --target` makes: a package with what it needs beyond what is here. A worker
that measures the peer finds modules there first; no other process does.
"""

import sys
from pathlib import Path

from flashscope.home import own_home


def environments_folder() -> Path:
    """Where they are: the user's data folder, or `$FLASHSCOPE_HOME/peers`."""
    import platformdirs  # noqa: PLC0415 - not needed where the variable is set

    return (own_home() or platformdirs.user_data_path("flashscope", appauthor=False)) / "peers"


def environment_of(package: str) -> Path | None:
    """The folder of a package's own, None where it has none."""
    folder = environments_folder() / package
    return folder if folder.is_dir() else None


def version_of(package: str) -> str | None:
    """The version that would be measured, None where a package manager installed none.

    It is that of the package's own folder, if there is one, else of what is installed beside us.
    """
    from importlib import metadata  # noqa: PLC0415 - slow, and most processes ask for no version

    own = environment_of(package)
    places = sys.path if own is None else [str(own)]
    found = next(iter(metadata.distributions(name=package, path=places)), None)
    return None if found is None else found.version
