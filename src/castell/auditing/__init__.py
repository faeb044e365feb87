"""What devices do, measured from outside: a lower bound of epsilon, and checks beside it.

Imports the rooms up to planning.
"""
