"""Tapes of compiled laws: their operations, recorded in one run, and their exact derivatives.

Layer: above the kernels, which it runs in the interpreter; below linearizations and gradients, which use it.
"""
