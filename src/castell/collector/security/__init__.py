"""What stands between the network and the store: limits, lists, tokens and headers.

Imports the collector's wire and responses, and of the store what a token is; knows no results.
"""
