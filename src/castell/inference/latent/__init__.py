"""The latent class model: a mixture of products, its statistics, EM, and cross-validation."""
