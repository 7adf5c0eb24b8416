"""Charts: learning curves of several runs, learning rates, positional encodings; and which model a name means."""
