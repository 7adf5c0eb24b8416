"""Files that people translate as pairs of source and target, read in bounded memory: for training and for test sets."""
