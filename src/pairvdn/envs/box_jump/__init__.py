"""Box Jump: boxes that walk and jump, rewarded for the height that any of them reaches."""
