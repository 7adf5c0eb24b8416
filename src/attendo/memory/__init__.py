"""Translation memory: what people have translated before, indexed on disk, looked up, and used by the model."""
