"""Counts of verdicts in a study: losses, successes, and trials that are neither."""

from collections.abc import Sequence

from biped.errors import InputError
from biped.runs import verdict as endings
from contact.errors import did_you_mean

#: A fall, or an end after which a fall is likely: metrics are measured up to it.
FALLS = (endings.FELL, endings.LOST_CONTROL)
#: Verdicts that decide nothing about balance: neither losses nor successes, reported separately.
INCONCLUSIVE = (endings.UNDECIDED, endings.UNRELIABLE, endings.INTERRUPTED)
#: Verdicts of trials whose metrics are not usable.
WITHOUT_RESULT = (endings.FAILED, *INCONCLUSIVE)
#: Verdicts that can be named as losses.
LOSSES = (endings.STEPPED, endings.FELL, endings.LOST_CONTROL, endings.FAILED, endings.UNDECIDED, endings.UNRELIABLE)
#: Label of a success if losses are named.
WITHSTOOD = "withstood"
#: Verdicts that are losses if none are named.
USUAL_LOSSES = (endings.STEPPED, endings.FELL, endings.LOST_CONTROL, endings.FAILED)


def checked_losses(counts: Sequence[str]) -> tuple[str, ...]:
    """Return the verdicts that count as losses, in the order of ``LOSSES``; raises InputError for an unknown one."""
    for word in counts:
        if word not in LOSSES:
            raise InputError(f"counts: no verdict {word!r}: {did_you_mean(word, LOSSES)}there are {', '.join(LOSSES)}")
    return tuple(word for word in LOSSES if word in counts)


def withstood(verdict: str, losses: Sequence[str] = USUAL_LOSSES) -> bool | None:
    """Return True for a success, False for a loss, and None for a verdict that is neither.

    A trial that ended early with a verdict outside ``losses`` is neither, such as a fall if only steps are losses.
    """
    if verdict in losses:
        return False
    return True if verdict in (endings.RECOVERED, endings.STEPPED, endings.COMPLETED) else None


def more_steps_than(most: int) -> str:
    """Return the label of trials that took more than ``most`` steps."""
    return f"more than {most} step{'s' if most > 1 else ''}"


def success_text(counts: Sequence[str]) -> str:
    """Return the label of successes; it lists the losses if the study names them."""
    return f"{WITHSTOOD} (lost: {', '.join(counts)})" if counts else endings.RECOVERED


def shares(ended: Sequence[str]) -> dict[str, int]:
    """Return the number of trials with each verdict, as columns such as ``lost_control_trials``.

    Trials with a label of ``more_steps_than`` count as stepped.
    """
    verdicts = [word if word in endings.VERDICTS else endings.STEPPED for word in ended]
    return {column_of(word): verdicts.count(word) for word in endings.VERDICTS if word != endings.INTERRUPTED}


def column_of(verdict: str) -> str:
    """Return the name of the column that counts the trials with a verdict."""
    return f"{verdict.replace(' ', '_')}_trials"
