"""Gather: agents that must all meet at one of three goals, which only some of them know."""
