"""The APIs, a router a module, and what they take and give."""
