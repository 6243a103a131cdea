"""Compiled forward and backward passes of trials."""
