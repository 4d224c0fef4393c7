"""What lets one in to a host, and what does not."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from flashscope.profiles.cluster.connection import (
    ConnectError,
    Connection,
    connection_to,
    connections_dir,
    is_loopback,
    joining_to,
    withdraw_connection,
    write_connection,
)

LAB = Connection(address="tls://lab:8786", ca="a\n", certificate="c\n", key="k\n")


def test_a_connection_file_is_its_owners_alone_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lab.connection"
    write_connection(LAB, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert connection_to(str(path)) == LAB


def test_a_connection_file_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "lab.connection"
    path.write_text("old", encoding="ascii")
    path.chmod(0o644)
    write_connection(LAB, path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_file_that_others_can_read_is_refused_with_what_mends_it(tmp_path: Path) -> None:
    path = tmp_path / "lab.connection"
    write_connection(LAB, path)
    path.chmod(0o640)
    with pytest.raises(ConnectError, match=f"chmod 600 {path}"):
        connection_to(str(path))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"address":"tls://lab:8786"}', "lacks certificates"),
        ('{"address":"tcp://lab:8786"}', "would be plain"),
        ('{"address":"http://lab"}', "holds no address"),
        ('{"address":"tls://lab:8786","more":1}', "is no connection file"),
        ("", "is no connection file"),
    ],
)
def test_a_file_that_cannot_be_used_says_why(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "lab.connection"
    path.touch(0o600)
    path.write_text(text, encoding="ascii")
    with pytest.raises(ConnectError, match=told):
        connection_to(str(path))


def test_a_folder_is_no_connection_file(tmp_path: Path) -> None:
    with pytest.raises(ConnectError, match=r"cannot be read \(Is a directory\); name the file"):
        connection_to(str(tmp_path))


def test_an_address_is_looked_up_among_the_connection_files_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    with pytest.raises(ConnectError, match=f"copy the one that serve made there into {connections_dir()}"):
        connection_to(LAB.address)
    write_connection(LAB, connections_dir() / "any.connection")
    assert connection_to(LAB.address) == LAB
    with pytest.raises(ConnectError, match="No connection file here is of tls://lab:8787"):
        connection_to("tls://lab:8787")


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "[::1]", "localhost"])
def test_a_plain_address_of_this_machine_needs_no_file(host: str) -> None:
    assert connection_to(f"tcp://{host}:8786") == Connection(address=f"tcp://{host}:8786")


@pytest.mark.parametrize("host", ["lab", "192.0.2.7", "0.0.0.0", "localhost.lab"])  # noqa: S104 - not listened on
def test_a_plain_address_elsewhere_is_refused(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(ConnectError, match="would be plain"):
        connection_to(f"tcp://{host}:8786")


def test_a_host_takes_back_its_own_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "lab.connection"
    write_connection(LAB, path)
    withdraw_connection(Connection(address="tls://lab:9", ca="a", certificate="c", key="k"), path)
    assert path.exists()
    withdraw_connection(LAB, path)
    assert not path.exists()


def test_a_file_for_joining_lets_no_client_in_and_a_clients_no_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLASHSCOPE_HOME", str(tmp_path))
    client, joining = connections_dir() / "lab.connection", connections_dir() / "lab.joining"
    joins = replace(LAB, joins=True)
    write_connection(LAB, client)
    with pytest.raises(ConnectError, match="No joining file here is of tls://lab:8786"):
        joining_to(LAB.address)
    write_connection(joins, joining)
    assert joining_to(LAB.address) == joining_to(str(joining)) == joins
    assert connection_to(LAB.address) == LAB
    with pytest.raises(
        ConnectError, match=r"lets a client measure, and no host join; name the file [.]joining"
    ):
        joining_to(str(client))
    with pytest.raises(ConnectError, match=r"and no client measure; name the file [.]connection"):
        connection_to(str(joining))
    assert joining_to("tcp://127.0.0.1:8786") == Connection(address="tcp://127.0.0.1:8786")
