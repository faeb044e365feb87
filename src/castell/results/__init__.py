"""What people get: models to ask, tables with intervals, tests, trust signals, plots.

Imports estimators and what they import.
"""
