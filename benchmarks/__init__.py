"""Speed as ratios and accuracy on data, each in one run. `python -m benchmarks` runs all."""
