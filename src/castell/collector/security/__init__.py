"""What stands between the network and the store: limits, lists, tokens and headers."""
