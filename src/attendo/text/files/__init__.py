"""Files of text on disk: how they are found, compressed, encoded and divided."""
