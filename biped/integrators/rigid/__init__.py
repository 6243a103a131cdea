"""Rigid contact in the joints' coordinates."""
