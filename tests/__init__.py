"""Tests of castell: a folder per room, contract/ for what every part of a kind must hold."""
