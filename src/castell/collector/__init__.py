"""The collector: takes reports over HTTP, keeps them safe, and shows what they say.

It sees integers only. Of a respondent it keeps a random key, the codes of the report and the hour
it was filed; no address, agent or cookie, not even in a log. Imports results and what they import.
Its parts, in the order they import each other: store, wire, security, intake, results, app,
commands.
"""
