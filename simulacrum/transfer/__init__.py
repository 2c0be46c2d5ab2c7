"""Policy transfer, level 4: does a policy play in the batched twin as it plays in the reference?

- `exact`: twins without tolerances. The same policy in both, and every bit of every step must be equal.
- `statistical`, `tost`: twins with a declared tolerance. Policies are trained in each, and their mean returns must be
  shown to differ by less than a margin that was stated before.
- `policies`, `learner`, `sides`: who acts, how a policy is trained, and both twins behind one face.
- `certificate`: the report that the result is added to.
"""
