"""Suites that score what tests can't assert: how well judges, screens and searches do on labelled data."""
