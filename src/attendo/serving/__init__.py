"""Models as a web service: an HTTP API of our own, those that existing clients speak, and a page."""
