"""Secrets that must be told again: sealed where they lie, opened where they are used."""
