"""Evaluation of translations: scores by sacreBLEU with their signatures, tests, confidence, robustness and checks."""
