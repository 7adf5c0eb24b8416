"""The embedded default: a model trained on the phrasebook of `attendo.synthetic`, and the report about it."""
