"""The machine: devices, threads and their settings."""
