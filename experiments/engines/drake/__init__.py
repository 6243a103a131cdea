"""Drake: the adapter, and our models in its terms."""
