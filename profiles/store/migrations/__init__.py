"""The file format's history: ordered functions that import nothing of the app.

Each takes a connection and brings a file from version n to n + 1. What a released migration does never
changes: a new version is a new function at the end.
"""

import sqlite3
from collections.abc import Callable, Sequence

from flashscope.profiles.store.migrations.v001_first import create_tables
from flashscope.profiles.store.migrations.v002_library_kernels import allow_library_kernels
from flashscope.profiles.store.migrations.v003_turns import allow_turns
from flashscope.profiles.store.migrations.v004_figures import keep_figures
from flashscope.profiles.store.migrations.v005_places import name_worst_rows
from flashscope.profiles.store.migrations.v006_digests import keep_digests
from flashscope.profiles.store.migrations.v007_batches import digest_batches
from flashscope.profiles.store.migrations.v008_parts import allow_parts
from flashscope.profiles.store.migrations.v009_words import keep_words
from flashscope.profiles.store.migrations.v010_traffic import keep_traffic
from flashscope.profiles.store.migrations.v011_ceilings import keep_ceilings
from flashscope.profiles.store.migrations.v012_gpm import keep_shares
from flashscope.profiles.store.migrations.v013_passes import name_passes
from flashscope.profiles.store.migrations.v014_lengths import name_lengths
from flashscope.profiles.store.migrations.v015_deterministic import name_deterministic
from flashscope.profiles.store.migrations.v016_runs import keep_run
from flashscope.profiles.store.migrations.v017_faults import name_faults
from flashscope.profiles.store.migrations.v018_timelines import keep_timelines
from flashscope.profiles.store.migrations.v019_backward_timelines import name_stages
from flashscope.profiles.store.migrations.v020_stalls import keep_stalls
from flashscope.profiles.store.migrations.v021_heads import name_heads
from flashscope.profiles.store.migrations.v022_landscapes import keep_landscapes
from flashscope.profiles.store.migrations.v023_own_kernels import name_own_kernels
from flashscope.profiles.store.migrations.v024_audits import keep_audits
from flashscope.profiles.store.migrations.v025_scoring import name_scoring
from flashscope.profiles.store.migrations.v026_backward_traces import keep_backward_traces
from flashscope.profiles.store.migrations.v027_devices import keep_devices
from flashscope.profiles.store.migrations.v028_ranks import keep_ranks

Migration = Callable[[sqlite3.Connection], None]

MIGRATIONS: tuple[Migration, ...] = (
    create_tables,
    allow_library_kernels,
    allow_turns,
    keep_figures,
    name_worst_rows,
    keep_digests,
    digest_batches,
    allow_parts,
    keep_words,
    keep_traffic,
    keep_ceilings,
    keep_shares,
    name_passes,
    name_lengths,
    name_deterministic,
    keep_run,
    name_faults,
    keep_timelines,
    name_stages,
    keep_stalls,
    name_heads,
    keep_landscapes,
    name_own_kernels,
    keep_audits,
    name_scoring,
    keep_backward_traces,
    keep_devices,
    keep_ranks,
)


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Bring a file to the newest version, in a transaction of the caller's.

    Args:
        connection: Open for writing, in autocommit mode (`isolation_level=None`).
        migrations: The history; the file's `user_version` says how much of it has been done.
    """
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    for number, step in enumerate(migrations[version:], start=version + 1):
        step(connection)
        connection.execute(f"PRAGMA user_version = {number}")
