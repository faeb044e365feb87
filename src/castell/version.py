"""The version, where every room can read it: a saved model says which one wrote it."""

VERSION = "0.1.0"
