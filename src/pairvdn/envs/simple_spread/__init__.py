"""Simple Spread: agents that must cover landmarks without bumping into each other."""
