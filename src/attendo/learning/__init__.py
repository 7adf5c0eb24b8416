"""Learning from corrections: fine-tuning a model on people's corrections, and the gate that a new model must pass."""
