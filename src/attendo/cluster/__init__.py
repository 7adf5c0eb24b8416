"""Translating and preparing on many machines, by way of Ray Data (the extra `ray`)."""
