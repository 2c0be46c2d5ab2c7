"""One step from every state there is, or from every state at an end of something, in both twins.

A step is a function of state, clock, parameters, action and draws. All of them can be put in by hand, so nothing has to
be waited for: the reference is asked what comes out for each combination, and the batched twin for all at once.
"""
