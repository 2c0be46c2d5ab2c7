"""simulacrum."""
