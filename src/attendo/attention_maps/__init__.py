"""Every head of every layer for one sentence pair: as data, as a picture, as a page to explore."""
