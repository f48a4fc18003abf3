"""Stores: what search reads. Embedding spaces, chunks, window vectors, packed postings."""
