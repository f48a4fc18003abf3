"""Ground floor: errors, identifiers, the clock, the log. Knows nothing of MindCone's domain."""
