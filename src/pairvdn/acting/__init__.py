"""From values to actions: policies, exploration, action repeat."""
