"""Where a run is trained: one device, several, or several processes."""
