"""Means: AI models behind two ports, `Embedder` and `ChatProvider`. Knows nothing of cards."""
