"""The command ``plausibly``: one file per command, which imports what it needs when it runs.

Nothing here may import numpy, xarray, attrs, pluggy or rich at module level: ``--help`` is quick.
"""
