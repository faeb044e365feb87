"""What is asked and how it is hidden: schema, design, study, and what taking part costs.

Imports linear and channels.
"""
