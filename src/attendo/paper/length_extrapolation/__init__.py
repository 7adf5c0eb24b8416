"""Section 3.5: texts longer than those trained on."""
