"""A plugin that cannot be imported."""

import no_such_module_xyz  # type: ignore[import-not-found]  # noqa: F401  # the mistake
