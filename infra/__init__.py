"""What stands Tributary up on AWS: stacks that compose constructs, one construct a concern. Imports nothing of the library."""
