"""Stores: what people wrote. Cards, their revisions, the links between them."""
