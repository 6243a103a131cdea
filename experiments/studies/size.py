"""How large a study will be: told before it begins, and refused where there is no room for it."""

from pathlib import Path

from biped.errors import InputError
from biped.simulation.room import free_disk, free_memory, in_gigabytes
from biped.simulation.simulate import Announce

#: [bytes] A planned trial takes in memory, and a finished one on the disk, with all of its metrics.
IN_MEMORY, ON_DISK = 1_000, 10_000
#: Trials of which is told how much they will take.
MANY = 100_000


def check_size(trials: int, folder: Path, announce: Announce | None = None) -> None:
    """Whether memory and disk have room for so many trials.

    Args:
        trials: of the whole study.
        folder: where it will be.
        announce: called with a sentence of a large one.

    Raises:
        InputError: there is no room.
    """
    if trials < MANY:
        return
    memory, disk = float(trials) * IN_MEMORY, float(trials) * ON_DISK
    size = f"{trials:,} trials take about {in_gigabytes(memory)} of memory and {in_gigabytes(disk)} of the disk"
    for needed, free, each in ((memory, free_memory(), IN_MEMORY), (disk, free_disk(folder), ON_DISK)):
        if needed > free:
            raise InputError(
                f"{size}, and {in_gigabytes(free)} are free: at most {int(free / each):,} trials, by fewer values or "
                "replicas, or metrics that are named, or in parts in folders of their own"
            )
    if announce is not None:
        announce(size)
