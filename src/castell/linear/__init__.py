"""Small structured linear maps, sums over axes, and the cores that do them.

Imports nothing of castell but errors.
"""
