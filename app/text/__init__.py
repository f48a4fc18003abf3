"""Means: text. Normalisation, sentences, segmentation, Markdown; pure functions over strings."""
