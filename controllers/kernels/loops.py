"""The closed loops, compiled: a control law, then the plant for a period, with no Python in between.

Each loop is written out, because a kernel that is passed as an argument is not cached on disk.
"""

from biped.kernels.loop.closed_loop import OK, act, look
from contact.jit import routine
from controllers.kernels.joint_pd import pd_torques
from controllers.kernels.workspace import workspace_torques


@routine
def workspace_loop(world, law, ticks, period):
    """``ticks`` control ticks of ``period`` steps; how many were done, and why it ended."""
    gains, legs, scratch = law
    for tick in range(ticks):
        reason = look(world, period)
        if reason == OK:
            workspace_torques(gains, legs, world.seen, scratch)
            for k in range(6):
                world.log.extra[k] = scratch.body_wrench[k]
            reason = act(world, period)
        if reason != OK:
            return tick, reason
    return ticks, OK


@routine
def pd_loop(world, law, ticks, period):
    """The same with proportional and derivative action in the joints."""
    for tick in range(ticks):
        reason = look(world, period)
        if reason == OK:
            pd_torques(law, world.seen)
            reason = act(world, period)
        if reason != OK:
            return tick, reason
    return ticks, OK
