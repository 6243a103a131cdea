"""Identification: frequency responses from trials or records, and models that are fitted to them."""
