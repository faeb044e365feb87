"""Tests of castell: one file per module, contract/ for what every part of a kind must hold."""
