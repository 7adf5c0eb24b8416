"""Shares of the threads' time by flow: the flow with the least goes first. No threads, no clock."""

from collections import OrderedDict

_LEAD_S = 0.05
"""Maximum lead in seconds of a flow that has been idle."""
_MAX_FLOWS = 10_000


class Shares:
    """Seconds of work that flows have had.

    Args:
        max_flows: maximum number of flows; beyond it the least recent flow is forgotten, and counts as idle.
    """

    def __init__(self, max_flows: int = _MAX_FLOWS) -> None:
        self._had: OrderedDict[str, float] = OrderedDict()
        self._floor = 0.0  # the amount used by the flow that last began to work
        self._max_flows = max_flows

    def had(self, flow: str) -> float:
        """Returns a flow's seconds of work; the flow with the least is next."""
        return max(self._had.get(flow, 0.0), self._floor - _LEAD_S)

    def begin(self, flow: str) -> None:
        """Records that a flow starts or continues to work: no other flow that could work has had less."""
        self._floor = max(self._floor, self.had(flow))

    def charge(self, flow: str, seconds: float) -> None:
        """Adds seconds of work to a flow."""
        self._had[flow] = self.had(flow) + seconds
        self._had.move_to_end(flow)
        while len(self._had) > self._max_flows:
            self._had.popitem(last=False)
