"""Side-by-side measurements: every figure is a ratio against a reference in the same run."""
