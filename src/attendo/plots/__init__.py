"""Charts: learning curves of several runs, learning rates, positional encodings, calibration; and their subjects."""
