"""Stores floor: what is to be done. The queue (pgqueuer) wired to our sessions, and one visible row per job."""
