"""Conversation floor: labelled sets against the real pipeline. A feature for users' own notes, too."""
