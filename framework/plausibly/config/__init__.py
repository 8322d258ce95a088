"""Plain data to components, and back."""
