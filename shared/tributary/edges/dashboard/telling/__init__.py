"""What views make of what the SDK answers and people type: pure, with one subject a module, for templates to show."""
