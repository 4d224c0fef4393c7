"""Where ssh leads, and what it runs there."""

import pytest

from flashscope.profiles.cluster.ssh import SshAddress


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
