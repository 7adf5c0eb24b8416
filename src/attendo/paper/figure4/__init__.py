"""Figure 4: heads that link an anaphor to its antecedent."""
