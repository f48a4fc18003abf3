"""How what we know connects: entities, their mentions and relations, and the cone of episodes."""
