"""How well does recall find the right section of runbooks that nobody here wrote? `python -m evals.retrieval`."""
