"""Faculties: learn. A card becomes chunks, vectors and postings; its state is visible throughout."""
