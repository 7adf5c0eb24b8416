"""Reproductions of the paper's tables, figures and claims, each compared with what the paper prints."""
