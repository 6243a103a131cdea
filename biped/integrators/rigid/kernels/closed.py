"""What ``biped.integrators.rigid.kernels.loops`` declares, of a tree with loops."""

import math

from biped.integrators.closing.kernels.method import (
    begin_closing,
    change_impulses,
    close_rates,
    end_closing,
    is_closed,
    keep_impulses,
    place_rate_rows,
    square_of_gaps,
    store_wrenches,
)
from biped.integrators.closing.kernels.record import record_closing
from biped.integrators.rigid.kernels.loops import (
    ClosedContact,
    Loops,
    add_loops,
    add_response,
    are_closed,
    begin_loop_rates,
    begin_loops,
    close_direction,
    close_free_rates,
    close_loop_rates,
    close_response,
    end_loop_rates,
    end_loops,
    gaps_suffice,
    go_loops,
    keep_loops,
    prepare_loops,
    with_gaps,
)
from biped.integrators.rigid.kernels.method import WORSTS
from biped.integrators.rigid.kernels.step import record_contacts
from biped.kernels.loop.log import record_more
from biped.kernels.tree.loops import add_loop_impulses, close_by_responses, set_loop_rows, set_responses


@begin_loops.register(Loops)
def begin_rows(tree, scratch, loops):
    begin_closing(tree, scratch, loops.step)


@add_loops.register(Loops)
def add_rows(tree, scratch, loops):
    set_loop_rows(scratch.next, loops.step)
    add_loop_impulses(loops.step, loops.step.impulse, scratch.residual)


@with_gaps.register(Loops)
def merit_with_gaps(tree, loops, merit, h):
    return math.sqrt(merit * merit + square_of_gaps(tree, loops.step, h))


@gaps_suffice.register(Loops)
def rows_suffice(tree, scratch, loops, most, h):
    return is_closed(tree, scratch, loops.step) or square_of_gaps(tree, loops.step, h) <= most * most


@are_closed.register(Loops)
def rows_are_closed(tree, scratch, loops):
    return is_closed(tree, scratch, loops.step)


@keep_loops.register(Loops)
def keep_row_impulses(loops):
    keep_impulses(loops.step)


@go_loops.register(Loops)
def change_row_impulses(loops, part):
    change_impulses(loops.step, part)


@end_loops.register(Loops)
def end_rows(scratch, loops):
    end_closing(scratch, loops.step)


@prepare_loops.register(Loops)
def set_row_responses(tree, left, right, loops, factors):
    set_responses(tree, left, right, loops.step, factors)


@close_direction.register(Loops)
def close_step(tree, loops, factors, change):
    close_by_responses(tree, loops.step, loops.step.gap, factors, change)


@close_response.register(Loops)
def close_pair_response(tree, loops, r, factors, response):
    close_by_responses(tree, loops.step, loops.step.nothing, factors, response)
    for k in range(loops.step.change.shape[0]):
        loops.pairs[r, k] = loops.step.change[k]


@add_response.register(Loops)
def add_pair_response(loops, r, size):
    for k in range(loops.step.change.shape[0]):
        loops.step.change[k] += size * loops.pairs[r, k]


@begin_loop_rates.register(Loops)
def begin_rate_rows(tree, poses, loops, factors):
    place_rate_rows(tree, poses, loops.rates)
    set_responses(tree, poses.motion, poses.motion, loops.rates, factors)


@close_loop_rates.register(Loops)
def project_rates(tree, loops, factors, rates, momentum):
    close_by_responses(tree, loops.rates, loops.rates.nothing, factors, rates)
    add_loop_impulses(loops.rates, loops.rates.change, momentum)


@end_loop_rates.register(Loops)
def end_rate_rows(poses, loops):
    store_wrenches(poses, loops.rates, loops.rates.change, loops.rates.end)


@close_free_rates.register(Loops)
def project_free_rates(tree, ahead, loops, momentum):
    close_rates(tree, ahead, loops.rates, momentum)


@record_more.register(ClosedContact)
def record_closed_contacts(tree, state, scratch, more, row, place):
    """What trees without loops have, and then what there is of the joints that close them."""
    record_contacts(tree, state, scratch, more.unknowns, row, place)
    pairs = more.unknowns.active.shape[0] - tree.contact_body.shape[0]
    record_closing(tree, state, scratch, more.closing, row, place + WORSTS + pairs)
