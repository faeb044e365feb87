"""How long a test waits for a page before it gives up: far longer than a page ever needs.

A wait ends as soon as what it is for is there, so patience costs nothing where things work. On
a busy machine the first table of a collector that has just started took longer than 15 seconds.
"""

PATIENCE = 180_000  # milliseconds
