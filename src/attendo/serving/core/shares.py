"""How much of the threads' time each flow has had, so that who has had less goes first. No threads, no clock."""

from collections import OrderedDict

_LEAD_S = 0.5
"""That a flow which was quiet is ahead of those that were not, at most: it is owed no more for its silence."""
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
        """What a flow counts as having had, in seconds; the flow with the least is next."""
        return max(self._had.get(flow, 0.0), self._floor - _LEAD_S)

    def begin(self, flow: str) -> None:
        """Notes that a flow begins to work, or goes on: no other had less that could."""
        self._floor = max(self._floor, self.had(flow))

    def charge(self, flow: str, seconds: float) -> None:
        """Adds work to what a flow has had."""
        self._had[flow] = self.had(flow) + seconds
        self._had.move_to_end(flow)
        while len(self._had) > self._max_flows:
            self._had.popitem(last=False)
