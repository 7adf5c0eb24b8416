"""Translating and preparing on many machines with Ray Data (the extra `ray`)."""
