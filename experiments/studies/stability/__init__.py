"""Where a closed loop is locally stable, over two parameters: the boundary by continuation, and what simulation says."""
