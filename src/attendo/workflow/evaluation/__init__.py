"""Models measured on test sets, treebanks and perturbed text."""
