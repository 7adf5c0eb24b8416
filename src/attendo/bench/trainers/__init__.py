"""Programs that train a model, each in a process of its own, which `bench.processes` runs where the program is."""
