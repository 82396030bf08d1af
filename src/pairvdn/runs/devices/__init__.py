"""Where a run is trained: one device, several, several processes."""
