"""Code compiled for one system and one method: generated equations, and the loop that solves them."""
