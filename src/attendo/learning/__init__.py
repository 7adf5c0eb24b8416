"""Learning from corrections: fine-tuning a model on what people changed, and the gate that a new model has to pass."""
