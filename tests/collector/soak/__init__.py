"""A collector under load and random faults, for as long as one likes, and an account at the end.

`python -m tests.collector.soak --minutes 60` (`make soak`). People with invitations send reports
through a proxy that drops connections, to a collector that is killed, on a disk that fills up, with
a clock that jumps, over a database that stops and crashes. Every report that was acknowledged must
be there once, with its codes; as many invitations must be used; and whoever copies all files, right
after a kill and after a good end, must not be able to link a person to a report.
"""
