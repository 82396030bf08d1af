"""Environments of other libraries under our contract, and ours with their interfaces."""
