"""Local stability of a closed loop over two parameters: the exact boundary, compared with simulations."""
