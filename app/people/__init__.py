"""Stores: who may. Workspaces, API keys, and answers already given to a repeated request."""
