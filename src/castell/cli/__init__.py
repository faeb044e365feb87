"""The command line: the verbs, and what they print.

Imports everything; nothing imports it but `python -m castell`.
"""

from castell.cli.app import main

__all__ = ["main"]
