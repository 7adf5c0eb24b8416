"""Models in memory, the queue of requests, and the threads that work on batches."""
