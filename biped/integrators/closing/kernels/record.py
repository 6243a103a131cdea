"""What a run has of the joints that close loops."""

from biped.kernels.loop.log import record_more
from biped.kernels.state.simulation_state import LAST_STEP_LENGTH
from biped.kernels.tree.closing import GAPS, Closing


@record_more.register(Closing)
def record_closing(tree, state, scratch, more, row, place):
    """The closing joints' wrenches of the step just taken, and the worst gaps since the last row.

    A wrench is the mean over the step of the impulses at both ends. Zeros where this run has taken no step yet.
    """
    rate = 1.0 / state.clock[LAST_STEP_LENGTH]
    for j in range(more.start.shape[0]):
        for k in range(6):
            row[place + k] = rate * (more.start[j, k] + more.end[j, k])
        place += 6
    for kind in range(GAPS):
        row[place + kind] = more.worst[kind]
        more.worst[kind] = 0.0
