"""Other formulations of mechanics, from the papers: mechanisms of frames, assemblies of bodies, Lagrangian systems.

Each simulates to a ``Run``, as models of ``biped`` do.
"""
