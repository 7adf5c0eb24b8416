"""Texts with markup: taken apart into plain sentences, translated, checked, and put together again; no HTTP."""
