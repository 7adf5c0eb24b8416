"""Table 4: English constituency parsing."""
