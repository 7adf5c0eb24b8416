"""Files of text as they lie on disk: which ones are meant, how they are packed, encoded and divided."""
