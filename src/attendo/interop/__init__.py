"""Models in the formats of other programs: export and import, and checks that both programs compute the same."""
