"""Exact and approximate maximisation over joint actions."""
