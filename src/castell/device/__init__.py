"""The respondent's side: encode answers, randomise, keep a ledger, send.

Imports reports and what it imports.
"""
