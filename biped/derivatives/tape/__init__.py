"""Functions that are noted while they run, and their exact derivatives: those of sampled laws.

Layer: above the kernels, which it runs as the Python that they are; linearizations and gradients stand on it.
"""
