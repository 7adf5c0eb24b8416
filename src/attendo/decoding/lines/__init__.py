"""Lines in, translations out: tokenization, guards, searches and retries put together."""
