"""A generated English-German phrasebook: a lexicon, rules of both grammars, and templates of sentences."""
