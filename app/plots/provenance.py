"""The metadata that every exported plot carries."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from profiles.export import metadata
from profiles.groups import Group, grouped
from profiles.session import Session
from profiles.summary import PointRow
from profiles.summary import rows as rows_of


def session_header(session: Session, rows: Sequence[PointRow] = ()) -> dict[str, str]:
    """Who measured what, when and how, as `key: value`: the header of a session's CSV, and the problem.

    Args:
        session: Where it comes from.
        rows: What of it is exported; none: all of it.
    """
    groups = grouped(rows or rows_of(session))
    problem = f"{'; '.join(_problem(*found) for found in groups.items())}, seed {session.plan.seed}"
    return {name: str(value) for name, value in metadata(session).items()} | {
        "problem": problem,
        "written by": f"Flashscope {_own_version()}",
    }


def _problem(group: Group, rows: Sequence[PointRow]) -> str:
    """What the points of a group share; the batch may go from one to another along N."""
    batches = list(dict.fromkeys(row.batch for row in rows))
    batch = f"{batches[0]}" if len(batches) == 1 else f"{batches[0]} to {batches[-1]}"
    heads = (
        f"{group.heads}" if group.kv_heads in {None, group.heads} else f"{group.heads} over {group.kv_heads}"
    )
    return f"batch {batch}, heads {heads}, head dim {group.head_dim}, {group.dtype}, {group.mask}"


def _own_version() -> str:
    try:
        return version("flashscope")
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "from source"
