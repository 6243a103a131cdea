"""Adjoints of whole trials, backwards through the steps and the law, compiled."""
