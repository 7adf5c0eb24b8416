"""`python -m attendo`: the command line."""

from attendo.cli.main import main

main()
