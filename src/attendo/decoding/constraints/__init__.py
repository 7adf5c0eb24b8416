"""What a translation must and must not hold, as the tokens that may follow a hypothesis."""
