"""Built-in components: plugins on top of the public `plausibly.plugin`."""
