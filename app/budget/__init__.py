"""Means: tokens. Counting and, above that, who gets how many of them; all pure."""
