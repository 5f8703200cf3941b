"""What runs in a process of its own for each contender: one port, and an adapter for each of the four. See `port`."""
