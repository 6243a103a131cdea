"""Tapes of compiled control laws: the operations of a law, recorded in one run, and its exact derivatives.

Layer: above the kernels, which it runs in the interpreter; below linearizations and gradients, which use it.
"""
