"""Translation memory: human translations, indexed on disk, looked up, and used by the model."""
