"""One thread for NumPy's linear algebra where times are taken.

In small products a second one only waits, which the processor's time counts. For environments of processes, before
they import NumPy.
"""

import json
import os
import subprocess
import sys
from typing import Any

ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"), "1")


def in_one_thread(module: str, *arguments: str) -> Any:
    """Run a module as a program in a process of one thread, and return what it prints as JSON.

    Raises:
        RuntimeError: it failed; the message has what it said.
    """
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)} failed: {done.stderr.strip()}")
    return json.loads(done.stdout)
