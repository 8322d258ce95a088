"""What plausibly ships: plugins like anyone's, built on the public `plausibly.plugin`."""
