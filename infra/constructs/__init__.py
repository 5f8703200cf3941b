"""One construct a concern; `infra.stacks` composes them."""
