"""EVALB's scores to the digit, and a report in which every sentence counts."""
