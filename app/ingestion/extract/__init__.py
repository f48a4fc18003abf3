"""What a text says: entities, relations and the sections of its cone, by a model or by rules."""
