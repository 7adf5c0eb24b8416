"""Figure 5: heads that follow the structure of sentences, and what each head does and is worth."""
