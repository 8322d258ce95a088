"""The fixtures of tests of files."""

from io_files import folder

__all__ = ["folder"]
