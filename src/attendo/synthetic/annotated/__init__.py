"""Sentences of English and German whose structure is known: dependencies and anaphors, with links between words."""
