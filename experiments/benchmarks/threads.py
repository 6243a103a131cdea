"""How many threads NumPy's linear algebra has where times are taken: one.

In small products a second one only waits, which the processor's time counts. For environments of processes, before
they import NumPy.
"""

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")
