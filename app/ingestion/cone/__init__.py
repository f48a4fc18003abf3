"""Ingestion: the cone. From a card's text to episodes, facets and facet points; pure, and without a model."""
