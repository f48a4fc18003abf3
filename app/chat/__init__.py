"""Conversation floor: one turn at a time, on branches. Questions in, cited answers out."""
