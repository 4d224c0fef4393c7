"""Where ssh leads, and what it runs there."""

from pathlib import Path

import pytest

from flashscope.profiles.cluster.client import ssh as by_ssh
from flashscope.profiles.cluster.client.ssh import SshAddress, host_by_ssh
from flashscope.profiles.cluster.connection import ConnectError


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("ssh://lab", ("lab", "", "")),
        (
            "ssh://me@lab.example.org:2222/work/flash scope",
            ("me@lab.example.org", "2222", "work/flash scope"),
        ),
        ("ssh://lab//opt/flashscope", ("lab", "", "/opt/flashscope")),
        ("ssh://lab/~me/x", ("lab", "", "~me/x")),
    ],
)
def test_an_address_has_a_destination_a_port_and_a_folder(text: str, parts: tuple[str, str, str]) -> None:
    assert SshAddress.parse(text) == parts


@pytest.mark.parametrize(
    "text", ["lab", "tls://lab:1", "ssh://", "ssh://-oProxyCommand=x", "ssh://me@-x/y", "ssh://a b"]
)
def test_what_is_none_or_would_be_an_option_of_ssh_is_no_address(text: str) -> None:
    assert SshAddress.parse(text) is None


def test_a_folder_is_one_word_of_the_shell_there_and_a_home_stays_one() -> None:
    command = SshAddress.parse("ssh://lab/a; rm -r b")
    assert command is not None
    assert command.remote_command.startswith("cd 'a; rm -r b' && exec ")
    home = SshAddress.parse("ssh://lab/~/my code")
    assert home is not None
    assert home.remote_command.startswith("cd ~/'my code' && exec ")


def test_without_a_folder_the_installed_command_runs_for_one_client() -> None:
    address = SshAddress.parse("ssh://lab")
    assert address is not None
    assert (
        address.remote_command
        == "exec flashscope serve --once --trust-code --host 127.0.0.1 --port 0 --file -"
    )


def test_a_host_that_does_not_know_what_it_is_started_with_is_told_to_be_older(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    ssh.write_text("#!/bin/sh\necho \"serve: No such option '--trust-code'\" >&2\nexit 2\n", encoding="ascii")
    ssh.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    told = "^Flashscope at lab is older .*'--trust-code'.*; use the same commit on both sides[.]$"
    with pytest.raises(ConnectError, match=told), host_by_ssh(SshAddress("lab", "", "x")):
        pass


def test_an_ssh_that_forwards_no_port_in_time_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ssh = tmp_path / "ssh"
    host = """echo '{"address":"tcp://127.0.0.1:5000"}'; exec cat > /dev/null"""
    ssh.write_text(
        f'#!/bin/sh\ncase "$*" in *"-O forward"*) exec sleep 60;; *) {host};; esac\n', encoding="ascii"
    )
    ssh.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setattr(by_ssh, "END_S", 0.5)
    told = "^ssh has not forwarded a port to lab within 0[.]5 s; look .* connect again[.]$"
    with pytest.raises(ConnectError, match=told), host_by_ssh(SshAddress("lab", "", "x")):
        pass
