"""Programs that train a model, each run by `bench.processes` in a process of its own, in the program's environment."""
