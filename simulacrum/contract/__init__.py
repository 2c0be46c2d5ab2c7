"""A room of simulacrum."""
