"""The training of Section 5: schedule, loss, loop."""
