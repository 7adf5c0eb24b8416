"""Vocabularies of subwords: learning them, text to ids and back, random segmentations."""
