"""What stands between the network and the store: limits, lists, tokens and headers.

Imports the collector's wire and responses; knows neither store nor results.
"""
