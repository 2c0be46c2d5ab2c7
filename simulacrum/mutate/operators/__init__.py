"""The operators: each finds its places in a parsed twin and says what to write there instead."""
