"""WHAT an environment says it is: spec.md, schema.json, the folder that holds them, and its digest. No torch."""
