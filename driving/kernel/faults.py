"""Whose fault a collision of the ego is.

The rule follows nuPlan's "at-fault collisions": who is hit in the back or in the side while keeping to its lane is not
at fault; who runs into something ahead, or is hit while it changes lanes, is. Precisely, at the frame in which the
collision is first certain (highway-env then lets it happen in this frame or the next):

- the partner is, of the vehicles that are part of a collision in this frame, the one with the smallest separation, the
  larger of |dx| - 5 m and |dy| - 2 m;
- the contact is lengthwise if |dx| - 5 m is the larger of the two, and sideways otherwise;
- a lengthwise contact with a partner ahead is the ego's fault;
- any other contact is the ego's fault unless it has kept to its lane for `SETTLING_S`: target lane and lane equal, and
  the whole car between the lane's markings.
"""

import math

import numpy as np
from numpy.typing import NDArray

from driving.kernel.collisions import HALF_WIDTH
from driving.kernel.jit import compiled
from driving.kernel.layout import CRASHED, IMPACT_PENDING, LANE, SETTLED_S, TARGET_LANE, X, Y
from driving.kernel.vehicle import LANE_WIDTH, VEHICLE_LENGTH

NO_CONTACT, BLAMELESS, OWN_FAULT = range(3)
"""What is known of a collision of the ego, as kept in the episode's memory."""

SETTLING_S = 1.0
"""How long the ego must have kept to its lane to count as having kept to it, s: a driver's reaction time, so that who
cuts in and is hit at once has caused it."""


@compiled
def find_partner(vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> int:
    """Return the vehicle that the ego collides with, or -1.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
    """
    partner = -1
    smallest = math.inf
    for other in range(1, flags.shape[1]):
        if flags[CRASHED, other] or flags[IMPACT_PENDING, other]:
            along = abs(vehicles[X, other] - vehicles[X, 0]) - VEHICLE_LENGTH
            across = abs(vehicles[Y, other] - vehicles[Y, 0]) - 2.0 * HALF_WIDTH
            if max(along, across) < smallest:
                smallest = max(along, across)
                partner = other
    return partner


@compiled
def keeps_lane(vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> bool:
    """Tell whether the ego is wholly inside its lane and aims at no other."""
    offset = abs(vehicles[Y, 0] - LANE_WIDTH * flags[LANE, 0])
    return bool(flags[LANE, 0] == flags[TARGET_LANE, 0] and offset <= LANE_WIDTH / 2 - HALF_WIDTH)


@compiled
def judge_contact(vehicles: NDArray[np.float64], flags: NDArray[np.int32], memory: NDArray[np.float64]) -> int:
    """Return `BLAMELESS` or `OWN_FAULT` for a collision that has just become certain.

    Args:
        vehicles: One environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
        memory: What the episode remembers, float64[MEMORY_WORDS].
    """
    partner = find_partner(vehicles, flags)
    if partner < 0:
        return OWN_FAULT
    dx = vehicles[X, partner] - vehicles[X, 0]
    along = abs(dx) - VEHICLE_LENGTH
    across = abs(vehicles[Y, partner] - vehicles[Y, 0]) - 2.0 * HALF_WIDTH
    if along >= across and dx > 0.0:
        return OWN_FAULT
    return BLAMELESS if memory[SETTLED_S] >= SETTLING_S else OWN_FAULT
