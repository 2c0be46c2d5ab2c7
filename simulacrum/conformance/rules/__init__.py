"""The rules, a file for each group or few."""
