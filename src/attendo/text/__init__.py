"""Text: formats, corpora, tokenization, token shards, batching; knows no model and no tensor."""
