"""Is everything as it should be? Checks of the installation, and counts that must be 0. Changes nothing."""
