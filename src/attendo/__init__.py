"""The Transformer of *Attention Is All You Need* (2017): train, translate, score, look inside."""
