"""Network addresses: which of them are one caller, and which belong to trusted proxies."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network


def address_name(address: str, ip6_prefix: int) -> str:
    """The name of the caller at an address: the address itself, or the network of an IPv6 address.

    Args:
        address: as the system or a trusted proxy writes it; anything else is cut to 64 characters.
        ip6_prefix: number of leading bits of an IPv6 address that identify a caller.
    """
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if isinstance(parsed, IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ip_network((parsed, ip6_prefix), strict=False))
    return str(parsed)


class TrustedProxies:
    """The proxies whose forwarded addresses are believed; it reads names as uvicorn does.

    Args:
        names: addresses, networks, and names of sockets without an address; `*` for all.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._all = "*" in names
        self._networks: list[IPv4Network | IPv6Network] = []
        self._literals: set[str] = set()
        for name in names:
            try:
                self._networks.append(ip_network(name))
            except ValueError:
                self._literals.add(name)

    def __contains__(self, host: str) -> bool:
        """Whether a host is one of them."""
        if self._all or host in self._literals:
            return True
        try:
            address = ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self._networks)
