"""The header of every exported plot: who measured what, when and how."""

from collections.abc import Sequence

from flashscope.app.words.version import own_version
from flashscope.profiles.results.formats.export import metadata
from flashscope.profiles.results.model.curves import Curve, by_curve
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.rows import rows as rows_of
from flashscope.profiles.results.model.session import Session


def session_header(session: Session, rows: Sequence[PointRow] = ()) -> dict[str, str]:
    """Who measured what, when and how, as `key: value`: the header of a session's CSV, and the problem.

    Args:
        session: Where it comes from.
        rows: What of it is exported; none: all of it.
    """
    curves = by_curve(rows or rows_of(session))
    problem = f"{'; '.join(_problem(*pair) for pair in curves.items())}, seed {session.plan.seed}"
    return {name: str(value) for name, value in metadata(session).items()} | {
        "problem": problem,
        "written by": f"Flashscope {own_version()}",
    }


def _problem(curve: Curve, rows: Sequence[PointRow]) -> str:
    """What the points of a curve share; the batch may go from one to another along N."""
    batches = list(dict.fromkeys(row.problem.batch for row in rows))
    batch = f"{batches[0]}" if len(batches) == 1 else f"{batches[0]} to {batches[-1]}"
    heads = f"{curve.heads}" if curve.kv_heads == curve.heads else f"{curve.heads} over {curve.kv_heads}"
    told = f"batch {batch}, heads {heads}, head dim {curve.head_dim}, {curve.dtype}, {curve.mask}"
    return ", ".join(filter(None, (told, curve.unusual)))
