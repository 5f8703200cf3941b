"""The words of the product as types, its pure rules, and the ports that adapters fill. No I/O."""
