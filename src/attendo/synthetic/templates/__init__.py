"""The sentences of the phrasebook, by what they are about."""
