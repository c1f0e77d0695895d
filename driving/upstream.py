"""highway-env's own highway for a scenario, and its vehicles as the kernel's arrays and back."""

from typing import Any

import numpy as np
from highway_env.envs.highway_env import HighwayEnv, HighwayEnvFast
from highway_env.vehicle.behavior import IDMVehicle
from numpy.typing import NDArray

from driving.kernel.ego import DRIVER_TARGET_SPEED
from driving.kernel.layout import (
    ACCELERATION,
    COS,
    CRASHED,
    DELTA,
    EGO_ACTIONS,
    EGO_MOBIL,
    HEADING,
    IMPACT_PENDING,
    IMPACT_X,
    IMPACT_Y,
    LANE,
    ORDER,
    RANK,
    SIN,
    SPEED,
    STEERING,
    TARGET_LANE,
    TARGET_SPEED,
    TIMER,
    X,
    Y,
)
from search_spaces.scenarios import Scenario

ROAD_NODES = ("0", "1")
"""The two ends of highway-env's straight road, the first words of a lane index."""


def upstream_environment(scenario: Scenario, **display: Any) -> Any:
    """Return highway-env's environment for a scenario, already reset once.

    Args:
        scenario: The road.
        display: highway-env's own settings of how it is drawn.
    """
    make = HighwayEnv if scenario.all_pairs_collisions else HighwayEnvFast
    config = {
        "lanes_count": scenario.lanes,
        "vehicles_count": scenario.vehicles,
        "vehicles_density": scenario.density,
        "ego_spacing": scenario.ego_spacing,
        "simulation_frequency": scenario.simulation_frequency,
        "policy_frequency": scenario.policy_frequency,
        "duration": scenario.duration,
    }
    return make({**config, **display})


def seat_driver(environment: Any, ego_driver: int) -> None:
    """Put an `IDMVehicle` in the place of a freshly reset ego, unless actions drive it.

    It has the default exponent and timer, and a target speed of 30 m/s; without `EGO_MOBIL` it keeps its lane.
    """
    if ego_driver == EGO_ACTIONS:
        return
    ego = environment.vehicle
    driver = IDMVehicle(
        environment.road,
        ego.position,
        ego.heading,
        ego.speed,
        target_speed=DRIVER_TARGET_SPEED,
        enable_lane_change=ego_driver == EGO_MOBIL,
    )
    environment.road.vehicles[0] = driver
    environment.vehicle = driver


def read_vehicles(environment: Any, vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> None:
    """Copy the whole state of every upstream vehicle into the arrays of one environment.

    Args:
        environment: As `upstream_environment` returns.
        vehicles: Overwritten, float64[VEHICLE_ROWS, V].
        flags: Overwritten, int32[FLAG_ROWS, V].
    """
    for i, vehicle in enumerate(environment.road.vehicles):
        pending = vehicle.impact is not None
        vehicles[X, i], vehicles[Y, i] = vehicle.position
        vehicles[HEADING, i] = vehicle.heading
        vehicles[SPEED, i] = vehicle.speed
        vehicles[TARGET_SPEED, i] = vehicle.target_speed
        vehicles[TIMER, i] = getattr(vehicle, "timer", 0.0)
        vehicles[DELTA, i] = getattr(vehicle, "DELTA", 0.0)
        vehicles[STEERING, i] = vehicle.action["steering"]
        vehicles[ACCELERATION, i] = vehicle.action["acceleration"]
        vehicles[IMPACT_X, i], vehicles[IMPACT_Y, i] = vehicle.impact if pending else (0.0, 0.0)
        vehicles[COS, i], vehicles[SIN, i] = vehicle.direction
        flags[LANE, i] = vehicle.lane_index[2]
        flags[TARGET_LANE, i] = vehicle.target_lane_index[2]
        flags[CRASHED, i] = vehicle.crashed
        flags[IMPACT_PENDING, i] = pending
    flags[ORDER] = np.argsort(vehicles[X], kind="stable")
    flags[RANK, flags[ORDER]] = np.arange(flags.shape[1])


def write_vehicles(environment: Any, vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> None:
    """Give every upstream vehicle the state that the arrays of one environment hold.

    Args:
        environment: As `upstream_environment` returns, with as many vehicles.
        vehicles: Quantities of one environment, float64[VEHICLE_ROWS, V].
        flags: Its flags, int32[FLAG_ROWS, V].
    """
    for i, vehicle in enumerate(environment.road.vehicles):
        vehicle.position = vehicles[[X, Y], i]
        vehicle.heading = vehicles[HEADING, i]
        vehicle.speed = float(vehicles[SPEED, i])
        vehicle.target_speed = float(vehicles[TARGET_SPEED, i])
        vehicle.action = {
            "steering": float(vehicles[STEERING, i]),
            "acceleration": float(vehicles[ACCELERATION, i]),
        }
        vehicle.impact = vehicles[[IMPACT_X, IMPACT_Y], i] if flags[IMPACT_PENDING, i] else None
        vehicle.crashed = bool(flags[CRASHED, i])
        vehicle.lane_index = (*ROAD_NODES, int(flags[LANE, i]))
        vehicle.lane = environment.road.network.get_lane(vehicle.lane_index)
        vehicle.target_lane_index = (*ROAD_NODES, int(flags[TARGET_LANE, i]))
        if isinstance(vehicle, IDMVehicle):
            vehicle.timer = float(vehicles[TIMER, i])
            vehicle.DELTA = float(vehicles[DELTA, i])
