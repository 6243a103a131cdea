"""Where a closed loop is locally stable, over two parameters: the exact boundary, and what simulation says."""
