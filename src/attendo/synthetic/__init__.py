"""An English-German phrasebook that the project writes itself: a lexicon, both grammars, templates of sentences."""
