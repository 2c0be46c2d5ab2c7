"""Growth."""
def run(plan, missing):
    return {}
