"""Records of people, and of anything else that was measured over time."""
