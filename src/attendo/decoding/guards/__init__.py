"""What is done about input that a model trained on clean sentences does badly with, and about output that is none."""
