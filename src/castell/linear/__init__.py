"""Small structured linear maps, and sums over axes.

Imports nothing of castell but errors.
"""
