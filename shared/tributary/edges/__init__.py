"""The doors of the product: each turns requests of its own kind into calls of the service, and holds no rule of it."""
