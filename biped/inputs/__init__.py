"""Checks and readers of what users hand in: arguments, documents, files, modules, optional packages."""
