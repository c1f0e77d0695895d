"""One physics frame: everybody decides, everybody moves, then collisions are handled."""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.collisions import handle_collisions
from driving.kernel.ego import control
from driving.kernel.jit import compiled
from driving.kernel.layout import ALL_PAIRS, EGO_ACTIONS, EGO_MOBIL, FRAME_S, LANES, ORDER, RANK, TIMER, X
from driving.kernel.traffic import drive
from driving.kernel.vehicle import move


@compiled
def sort_by_position(vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> None:
    """Sort `ORDER` by x, equal positions in vehicle order, and write its inverse into `RANK`.

    Insertion sort: the order of the frame before is nearly right.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V]; `ORDER` must be a permutation.
    """
    x = vehicles[X]
    order = flags[ORDER]
    for place in range(1, x.size):
        vehicle = order[place]
        before = place - 1
        while before >= 0 and (
            x[order[before]] > x[vehicle] or (x[order[before]] == x[vehicle] and order[before] > vehicle)
        ):
            order[before + 1] = order[before]
            before -= 1
        order[before + 1] = vehicle
    for place in range(x.size):
        flags[RANK, order[place]] = place


@compiled
def advance_frame(
    vehicles: NDArray[np.float64],
    flags: NDArray[np.int32],
    road: NDArray[np.float64],
    ego_driver: int,
    polygons: NDArray[np.float64],
    candidates: NDArray[np.int32],
) -> None:
    """Advance one environment by one physics frame.

    Vehicles decide in vehicle order, the ego first; a later one sees the target lanes that earlier ones have just
    chosen, and nothing else that is new.

    Args:
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V], sorted by x before and after.
        road: The scenario, float64[ROAD_WORDS].
        ego_driver: `EGO_ACTIONS`, `EGO_IDM` or `EGO_MOBIL`.
        polygons: Room for two rectangles, float64[2, 5, 2].
        candidates: Room for vehicle indices, int32[V].
    """
    count = flags.shape[1]
    lanes = int(road[LANES])
    frame_s = road[FRAME_S]
    for i in range(count):
        if i == 0 and ego_driver == EGO_ACTIONS:
            control(vehicles, flags)
        else:
            drive(vehicles, flags, i, lanes, i > 0 or ego_driver == EGO_MOBIL)
    for i in range(count):
        if i > 0 or ego_driver != EGO_ACTIONS:
            vehicles[TIMER, i] += frame_s
        move(vehicles, flags, i, frame_s, lanes)
    sort_by_position(vehicles, flags)
    handle_collisions(vehicles, flags, frame_s, road[ALL_PAIRS] != 0.0, polygons, candidates)
