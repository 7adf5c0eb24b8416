"""A recipe trained in its run folder: the folder, the model, the figures, validation, averages."""
