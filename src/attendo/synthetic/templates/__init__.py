"""The templates of the phrasebook's sentences, by topic."""
