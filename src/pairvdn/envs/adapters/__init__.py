"""Adapters: environments of other libraries under our contract, and the reverse."""
