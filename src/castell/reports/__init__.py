"""What leaves the device: integers and the digest of their study.

Imports study and what it imports.
"""
