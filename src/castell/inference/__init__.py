"""From integer tables to estimates and their errors.

Imports counting and what it imports; knows no estimator by name.
"""
