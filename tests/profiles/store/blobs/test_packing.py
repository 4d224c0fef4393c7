"""Large values are packed in a file, and those of older files are read as they are."""

import zlib

import msgspec
import pytest

from flashscope.profiles.store.blobs import packing
from flashscope.profiles.store.blobs.packing import packed, unpacked
from flashscope.profiles.store.blobs.places import PLACES
from tests.profiles.store import builders

VALUES = [builders.trace(), builders.timeline(), builders.stalls(), builders.landscape()]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_is_read_packed_and_as_older_files_have_it(value: msgspec.Struct) -> None:
    decode = PLACES[type(value)].decode  # type: ignore[index]  # one of those above
    assert packed(value)[0] == packing.ZLIB != msgspec.msgpack.encode(value)[0]
    assert decode(packed(value)) == decode(msgspec.msgpack.encode(value)) == value


@pytest.mark.parametrize("cut", [1, 10, -1])
def test_what_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"cut off|cannot be unpacked"):
        unpacked(packed(VALUES[1])[:cut])


def test_what_would_fill_the_memory_is_refused_before_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MAX_VALUE_BYTES", 1 << 16)
    with pytest.raises(ValueError, match="too large"):
        unpacked(zlib.compress(bytes(1 << 20)))


def test_what_is_too_large_for_a_file_is_not_packed_so_that_it_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(packing, "MAX_VALUE_BYTES", 100)
    assert packed(VALUES[0]) == msgspec.msgpack.encode(VALUES[0])
