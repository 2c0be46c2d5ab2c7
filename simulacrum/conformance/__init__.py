"""Checks a stranger's Gymnasium vector environment against the contract."""
