"""Sensor: neighbouring sensors that must scan the same moving target."""
