"""A package, so that the browser lives as long as its tests and no longer."""
