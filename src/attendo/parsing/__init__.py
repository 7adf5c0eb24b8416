"""Constituency trees: reading, writing, drawing and scoring them as EVALB does, without tensors."""
