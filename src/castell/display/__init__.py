"""How nouns show themselves: in one line, as plain JSON values, as arrays, in a notebook.

Imports errors only, so that every room may use it.
"""
