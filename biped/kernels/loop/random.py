"""Counter-based random numbers: a number for each (seed, tick, channel), without a state.

Noise is therefore the same in a continued run and in any thread. The mixing function is that of C. Wellons,
"Prospecting for Hash Functions" (2018), ``lowbias32``, applied to one word after the other.
"""

import math

from kernelcache import kernel, routine

_WORD = 0xFFFFFFFF


@kernel
def mixed(x):
    """Return a 32-bit hash of a 32-bit word: every input bit changes about half of the output bits."""
    x ^= x >> 16
    x = (x * 0x7FEB352D) & _WORD
    x ^= x >> 15
    x = (x * 0x846CA68B) & _WORD
    x ^= x >> 16
    return x


@kernel
def word(seed, tick, channel):
    x = mixed((seed & _WORD) ^ 0x9E3779B9)
    x = mixed(x ^ ((seed >> 32) & _WORD))
    x = mixed((x + (tick & _WORD)) & _WORD)
    x = mixed(x ^ ((tick >> 32) & _WORD))
    return mixed((x + channel * 0x9E3779B1) & _WORD)


@routine
def normal(seed, tick, channel):
    """Return a number from the standard normal distribution (Box and Muller 1958)."""
    u = (word(seed, tick, 2 * channel) + 0.5) / 4294967296.0
    v = word(seed, tick, 2 * channel + 1) / 4294967296.0
    return math.sqrt(-2.0 * math.log(u)) * math.cos(2.0 * math.pi * v)
