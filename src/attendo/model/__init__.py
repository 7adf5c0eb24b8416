"""The model of Section 3: ids and masks in, logits out; knows no text and no files."""
