"""Planning: how to ask the next respondents, from what is known already.

Imports results and what they import.
"""
