"""Aloha: stations that must not send at the same time as a neighbour."""
