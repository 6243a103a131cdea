"""The same experiment in several physics engines, side by side."""
