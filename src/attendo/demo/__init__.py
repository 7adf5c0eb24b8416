"""The demo: a model trained on the phrasebook of `attendo.synthetic`, and a report on it."""
