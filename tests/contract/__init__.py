"""What every part of a kind must hold, whichever parts there are."""
