"""The reproduction lab: every table and figure of the paper, with real noise and with its model.

`python -m experiments --list` names them, `python -m experiments NAME` runs one,
`python -m experiments all` runs all and writes `docs/reproduction.md`. A file here whose name
starts with `table_` or `fig_` is an experiment; a method is a file among castell's estimators.
"""
