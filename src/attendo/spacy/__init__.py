"""The parser as a component of spaCy: `nlp.add_pipe("attendo_parser", config={"model": MODEL})`."""
