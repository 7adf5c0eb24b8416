"""Models as other programs have them: one module a format, each pure functions of a Transformer."""
