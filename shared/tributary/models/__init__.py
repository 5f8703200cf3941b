"""Adapters to models, one room a kind. `service` chooses among them; nothing here is loaded before it is used."""
