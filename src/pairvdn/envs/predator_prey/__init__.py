"""Predator-prey: it takes two to catch, and one that tries alone is punished."""
