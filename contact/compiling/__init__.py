"""How kernels are compiled, kept on disk, and loaded; ``contact.jit`` is the way in."""
