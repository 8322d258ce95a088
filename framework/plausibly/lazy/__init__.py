"""Larger than memory: arrays in chunks of examples, read one chunk at a time.

Everything here works on xarray over Dask. Nothing of Dask is imported before such an array comes.
"""
