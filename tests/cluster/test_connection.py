import socket

import pytest

from attendo.cluster.connection import connected
from attendo.errors import AttendoError


def refusal(address: str) -> str:
    with pytest.raises(AttendoError) as caught, connected(address):
        pass
    return str(caught.value)


def test_a_missing_extra_is_told_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("attendo.workflow.extras.find_spec", lambda name: None)
    assert refusal("auto") == 'ray, pyarrow, pandas: not installed, and needed here; pip install "attendo[ray]"'


def test_addresses_that_cannot_be_meant_are_told() -> None:
    pytest.importorskip("ray")
    for address in ("nonsense", "host:", ":6379", "host:port"):
        assert refusal(address).startswith(f"--ray {address}: is not an address; take auto, local, or the HOST:PORT")
    assert refusal("ray://host:10001").startswith("--ray ray://host:10001: a Ray client connection is not enough")


def test_nobody_at_an_address_is_told() -> None:
    pytest.importorskip("ray")
    with socket.socket() as taken:  # bound, but nobody listens
        taken.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        message = refusal(address)
    assert message.startswith(f"--ray {address}: no answer from there (")
    assert "ray start --head" in message
