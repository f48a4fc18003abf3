"""Older cards that hold a name which a title has brought since are read again by rules, and their mentions linked."""
