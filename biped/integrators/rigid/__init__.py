"""Rigid contact for trees of joints."""
