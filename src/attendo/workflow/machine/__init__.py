"""Where work is done: devices, threads, and what this machine has."""
