"""From run folders to numbers, curves and recordings."""
