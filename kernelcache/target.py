"""Target processor of the kernels, and the switch to stock Numba.

Code for the present processor would give slightly different results on another machine, if LLVM chooses other
instructions. A fixed target gives equal results, bit for bit, on all machines of its kind, and compiled kernels can be
shipped. It is set by Numba's settings ``CPU_NAME`` and ``CPU_FEATURES``, which hold for the whole process.
"""

import os
import platform

import numba
from llvmlite import binding

#: True if kernels are compiled by stock ``numba.njit``, without this package's compiler and cache.
PLAIN = os.environ.get("BIPED_PLAIN_NUMBA", "0") not in ("", "0")

#: Processors since 2013 (Haswell) and 2015 (Excavator): AVX2, FMA, BMI2.
X86 = "x86-64-v3"
# Scheduling and loop unrolling as for Zen 3 save 2 % of a step, on Intel's processors too.
_TUNING = "znver3"
_WITHOUT_OTHERS = (
    "-adx,-aes,-clflushopt,-clwb,-clzero,-fsgsbase,-invpcid,-mwaitx,-pclmul,-pku,-prfchw,-rdpid,-rdpru,-rdrnd,-rdseed,"
    "-sha,-shstk,-sse4a,-vaes,-vpclmulqdq,-wbnoinvd"
)
_NEEDED = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe")


def fixed_target() -> str | None:
    """Return the fixed target for this machine, or None if its processor is too old or of another kind."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return None
    features = binding.get_host_cpu_features()
    return X86 if all(features.get(name) for name in _NEEDED) else None


def choose() -> None:
    """Set Numba to the fixed target, unless ``BIPED_TARGET=native`` or Numba's own variables set another one."""
    if fixed_target() is None or os.environ.get("BIPED_TARGET") == "native":
        return
    if numba.config.CPU_NAME is None and numba.config.CPU_FEATURES is None:
        numba.config.CPU_NAME, numba.config.CPU_FEATURES = _TUNING, _WITHOUT_OTHERS


def target_name() -> str:
    """Return the name of the processor for which kernels are compiled."""
    is_fixed = numba.config.CPU_FEATURES == _WITHOUT_OTHERS
    return X86 if is_fixed else numba.config.CPU_NAME or binding.get_host_cpu_name()


choose()
