"""The latent class model: a mixture of products, its statistics, EM, and cross-validation.

Imports the rest of inference and what it imports.
"""
