"""The views: each the pages of one subject, written over the SDK alone. `page.py` says what a view is, `table.py` lists them."""
