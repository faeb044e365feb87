"""The command line: one file of verbs, and what they print.

Imports everything; nothing imports it but `python -m castell`.
"""

from castell.cli.app import main

__all__ = ["main"]
