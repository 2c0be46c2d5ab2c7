"""The environments that come with simulacrum, one folder each."""
