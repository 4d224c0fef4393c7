"""A session as one Parquet table, through pyarrow: a row a point, its timed runs in a list."""

import io
from typing import Any

import msgspec

from flashscope.installation import install_command
from flashscope.kernels.catalogue.spec import installed
from flashscope.kernels.workload.errors import UnsupportedError
from flashscope.profiles.results.formats.export import (
    described,
    export_columns,
    metadata,
    rows_with_baselines,
)
from flashscope.profiles.results.model.bookmarks import on_points
from flashscope.profiles.results.model.rows import PointRow
from flashscope.profiles.results.model.session import Session
from flashscope.profiles.results.quantities.registry import QUANTITIES
from flashscope.profiles.wire.measurement import Sample
from flashscope.profiles.wire.text import harmless

RUNS = "runs"  # `samples` is how many of them count
WHOLE = (
    "seqlen",
    "seqlen_k",
    "batch",
    "heads",
    "head_dim",
    "kv_heads",
    "page_size",
    "head_dim_v",
    "part",
    "measured_on",
)
LISTS = ("window", "query_lengths", "key_lengths")
YES_NO = ("causal", "deterministic", "sinks", "alibi", "cold", "altered")
FIGURES = frozenset(name for quantity in QUANTITIES.values() for name in quantity.names) | {"softcap"}


def to_parquet(session: Session, path: str | None = None, provenance: str = "") -> bytes:
    """The columns of `to_csv` and `runs`, the timed runs: structs of a Sample's fields. Missing is null.

    The file's metadata has the lines that head a CSV, and as `session` the JSON document's `session`.

    Args:
        session: What to write.
        path: The session's file, None when it has none.
        provenance: Where its figures come from in words, as `to_json` has it.

    Raises:
        UnsupportedError: pyarrow is not installed, or the session has no points.
    """
    if not installed("pyarrow"):
        raise UnsupportedError(f"Parquet needs pyarrow: {install_command('parquet')}")
    import pyarrow as pa  # noqa: PLC0415 - an extra
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    if not session.points:
        raise UnsupportedError("A session without points has no table of them; export it as CSV or JSON.")
    noted = on_points(session.bookmarks)
    points = [
        export_columns(row, baseline, noted) | {RUNS: _runs(row)}
        for row, baseline in rows_with_baselines(session)
    ]
    fields = [(name, _type(name, pa)) for name in points[0]]
    told = {name: harmless(str(value)) for name, value in metadata(session).items()}
    told["session"] = harmless(msgspec.json.encode(described(session, path, provenance)).decode())
    told["provenance"] = harmless(provenance)
    schema = pa.schema(fields, metadata=told)
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist([_plain(point) for point in points], schema), out)
    return out.getvalue()


def _type(name: str, pyarrow: Any) -> Any:
    """The type of a column."""
    if name == RUNS:
        numbers = {"ms": pyarrow.float64(), "sm_clock_mhz": pyarrow.float64()}
        numbers |= {"round": pyarrow.int64(), "t_ns": pyarrow.int64()}
        run = [(field, numbers.get(field, pyarrow.string())) for field in Sample.__struct_fields__]
        return pyarrow.list_(pyarrow.struct(run))
    if name in FIGURES:
        return pyarrow.float64()
    if name in WHOLE:
        return pyarrow.int64()
    if name in YES_NO:
        return pyarrow.bool_()
    return pyarrow.list_(pyarrow.int64()) if name in LISTS else pyarrow.string()


def _runs(row: PointRow) -> list[dict[str, Any]]:
    samples = row.measurement.samples if row.measurement else ()
    return [_plain(msgspec.structs.asdict(sample)) for sample in samples]


def _plain(record: dict[str, Any]) -> dict[str, Any]:
    """The record with figures as floats, and with texts that UTF-8 can hold."""
    return {name: _cell(name, value) for name, value in record.items()}


def _cell(name: str, value: Any) -> Any:
    if isinstance(value, str):
        return harmless(value)
    return float(value) if name in FIGURES and value is not None else value
