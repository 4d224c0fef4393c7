"""The certificates of one run of a host."""

import socket
import ssl
import threading
from pathlib import Path

import pytest

pytestmark = pytest.mark.cluster


def context(folder: Path, purpose: ssl.Purpose, ca: str, certificate: str, key: str) -> ssl.SSLContext:
    """As Dask makes one: both sides are asked, hosts go by no name."""
    (folder / "cert").write_text(certificate, encoding="ascii")
    (folder / "key").write_text(key, encoding="ascii")
    made = ssl.create_default_context(purpose, cadata=ca)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    made.load_cert_chain(folder / "cert", folder / "key")
    return made


def meet(host: ssl.SSLContext, client: ssl.SSLContext) -> None:
    """Have both shake hands; raises what either side refuses by."""
    here, there = socket.socketpair()
    errors: list[BaseException] = []

    def serve() -> None:
        try:
            with host.wrap_socket(there, server_side=True) as end:
                end.sendall(b"x")
        except (ssl.SSLError, OSError) as error:
            errors.append(error)
            there.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        with client.wrap_socket(here) as end:
            assert end.recv(1) == b"x"
    finally:
        here.close()
        thread.join()
    assert errors == []


def test_a_client_and_its_host_prove_themselves_to_each_other_and_no_others_do(tmp_path: Path) -> None:
    from flashscope.profiles.cluster.host.certificates import make_certificates  # noqa: PLC0415 - needs the extra

    ours, others = make_certificates("lab"), make_certificates("lab")
    host = context(tmp_path, ssl.Purpose.CLIENT_AUTH, ours.ca, *ours.host)
    meet(host, context(tmp_path, ssl.Purpose.SERVER_AUTH, ours.ca, *ours.client))
    with pytest.raises((ssl.SSLError, OSError)):
        meet(host, context(tmp_path, ssl.Purpose.SERVER_AUTH, ours.ca, *others.client))
    with pytest.raises((ssl.SSLError, OSError)):
        meet(host, context(tmp_path, ssl.Purpose.SERVER_AUTH, others.ca, *others.client))


def test_a_client_cannot_stand_for_its_host(tmp_path: Path) -> None:
    from flashscope.profiles.cluster.host.certificates import make_certificates  # noqa: PLC0415 - as above

    ours = make_certificates("lab")
    false = context(tmp_path, ssl.Purpose.CLIENT_AUTH, ours.ca, *ours.client)
    with pytest.raises(ssl.SSLError, match="certificate purpose"):
        meet(false, context(tmp_path, ssl.Purpose.SERVER_AUTH, ours.ca, *ours.client))


def test_a_joining_host_stands_beside_the_host_to_both_sides(tmp_path: Path) -> None:
    from flashscope.profiles.cluster.host.certificates import make_certificates  # noqa: PLC0415 - as above

    ours = make_certificates("lab")
    for here, there in ((ours.joining, ours.host), (ours.host, ours.joining)):
        listening = context(tmp_path, ssl.Purpose.CLIENT_AUTH, ours.ca, *here)
        meet(listening, context(tmp_path, ssl.Purpose.SERVER_AUTH, ours.ca, *there))
