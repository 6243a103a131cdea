"""Other physics engines that simulate our models."""
