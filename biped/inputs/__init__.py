"""Checks and readers of what users hand in: arguments, files, modules, optional packages."""
