"""The only place that draws: scenes, which are data, become pictures and windows."""
