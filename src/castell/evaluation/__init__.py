"""Distances between tables, and the paper's theorems. Imports linear."""
