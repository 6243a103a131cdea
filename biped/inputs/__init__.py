"""Checks and readers of user input: arguments, files, modules, optional packages."""
