"""Shares of the threads' time by flow: the flow with the least goes first. No threads, no clock."""

from collections import OrderedDict

_LEAD_S = 0.5
"""Maximum lead in seconds of a flow that was idle; it is owed no more for its silence."""
_MAX_FLOWS = 10_000


class Shares:
    """Seconds of work that flows have had.

    Args:
        max_flows: remembered; beyond, the one that worked longest ago is forgotten, and counts as one that was quiet.
    """

    def __init__(self, max_flows: int = _MAX_FLOWS) -> None:
        self._had: OrderedDict[str, float] = OrderedDict()
        self._floor = 0.0  # what the flow had that began to work last
        self._max_flows = max_flows

    def had(self, flow: str) -> float:
        """Gives a flow's seconds of work; the flow with the least is next."""
        return max(self._had.get(flow, 0.0), self._floor - _LEAD_S)

    def begin(self, flow: str) -> None:
        """Notes that a flow begins or continues to work: no other flow that could had less."""
        self._floor = max(self._floor, self.had(flow))

    def charge(self, flow: str, seconds: float) -> None:
        """Adds work to what a flow has had."""
        self._had[flow] = self.had(flow) + seconds
        self._had.move_to_end(flow)
        while len(self._had) > self._max_flows:
            self._had.popitem(last=False)
