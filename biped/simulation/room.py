"""How much memory and disk there is to take, so that a request that is too large can be refused before it begins."""

import os
import resource
import shutil
from pathlib import Path

#: Bytes in a gigabyte, in which people are told.
GB = 1e9


def free_memory() -> float:
    """[bytes] that this process may take: what the system has available, within the limit of the process."""
    page = os.sysconf("SC_PAGE_SIZE")
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        available = next(1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
        taken = page * int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, StopIteration):  # not Linux, which alone tells
        available, taken = float(page * os.sysconf("SC_PHYS_PAGES")), 0
    return available if limit == resource.RLIM_INFINITY else min(available, max(0.0, limit - taken))


def free_disk(folder: Path) -> float:
    """[bytes] on the disk of a folder that may not be there yet."""
    there = next((one for one in (folder, *folder.absolute().parents) if one.exists()), Path("/"))
    return float(shutil.disk_usage(there).free)


def in_gigabytes(size: float) -> str:
    """In words; of what is beyond all machines, its order of magnitude."""
    number = size / GB
    return f"{number:.2g} GB" if number < 10.0 or number > 1e9 else f"{number:,.0f} GB"
