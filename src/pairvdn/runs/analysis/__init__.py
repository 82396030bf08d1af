"""Runs on disk as numbers: evaluations, comparisons, curves, recordings, speed."""
