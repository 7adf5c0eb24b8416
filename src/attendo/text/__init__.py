"""Text: formats, corpora, tokenization, token shards, batching; uses no model and no tensors."""
