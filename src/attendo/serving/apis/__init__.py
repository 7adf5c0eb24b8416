"""The APIs, one router per module, and their request and response types."""
