"""Training libraries' own interfaces over a `SimulacrumVectorEnv`: one file a library, which it imports."""
