"""How well does recall find the right section of runbooks that nobody here wrote? Asked by the suite `retrieval`."""
