"""WHAT an environment says it is: spec.md, schema.json, their folder and its digest. No torch in here."""
