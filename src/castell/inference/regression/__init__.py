"""Regression through the channels: outcome, covariates or both are randomised.

A formula becomes a design matrix over the combinations of the covariates' values; the likelihood of
the reports, or corrected scores, give the coefficients. Imports the rooms up to counting, and
inversion, support and means of `inference`.
"""
