"""Files of text as they lie on disk: how they are found, compressed, encoded and divided."""
