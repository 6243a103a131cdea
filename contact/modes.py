"""States of a contact point (Wendlandt 1997, section 5.2, figure 5.1).

A point is in one of the lasting states 1, 2 and 4 throughout a step. States 3, 5 and 6 are decisions at the end of a
step, which determine the lasting state in the next step.
"""

from enum import IntEnum

NONE = 1
SLIDING = 2
SLIDING_TO_STICKING = 3
STICKING = 4
STICKING_TO_SLIDING = 5
PULLING = 6


class ContactState(IntEnum):
    """States of a contact point, with the numbers of Wendlandt 1997, figure 5.1."""

    NONE = NONE
    SLIDING = SLIDING
    SLIDING_TO_STICKING = SLIDING_TO_STICKING
    STICKING = STICKING
    STICKING_TO_SLIDING = STICKING_TO_SLIDING
    PULLING = PULLING


#: Lasting state in the next step, by the state at the end of a step.
NEXT = {
    ContactState.NONE: ContactState.NONE,
    ContactState.SLIDING: ContactState.SLIDING,
    ContactState.SLIDING_TO_STICKING: ContactState.STICKING,
    ContactState.STICKING: ContactState.STICKING,
    ContactState.STICKING_TO_SLIDING: ContactState.SLIDING,
    ContactState.PULLING: ContactState.SLIDING,
}
