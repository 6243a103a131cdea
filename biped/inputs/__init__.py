"""Checks and readers of users' inputs: arguments, files, modules, optional packages."""
