"""An experiment in several physics engines, side by side."""
