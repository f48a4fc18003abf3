"""Communities of the graph: clustered, reported on, kept up to date."""
