"""Who is who: which names mean one entity."""
