"""Import and export: notes, vaults and documents of other programs, in and out.

Knows files and their formats. Knows nothing of HTTP, jobs or how a card is ingested.
"""
