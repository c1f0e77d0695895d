"""The observation against highway-env's rules in plain Python."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from driving.kernel.layout import COS, FLAG_ROWS, SIN, SPEED, VEHICLE_ROWS, X, Y
from driving.kernel.observation import observe

places = st.tuples(
    st.floats(-20, 300) | st.sampled_from([-10.0, 0.0, 50.0, 50.0, 199.99, 200.0]),
    st.floats(-4, 16),
    st.floats(-3, 3),
    st.floats(-42, 42),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(places, min_size=1, max_size=15), st.integers(1, 8))
def test_it_shows_the_ego_and_the_nearest_in_sight(cars: list[tuple[float, float, float, float]], lanes: int) -> None:
    count = len(cars)
    vehicles = np.zeros((VEHICLE_ROWS, count))
    vehicles[X], vehicles[Y], headings, vehicles[SPEED] = np.transpose(cars)
    vehicles[COS], vehicles[SIN] = np.cos(headings), np.sin(headings)
    seen = np.full((5, 5), 9.0, np.float32)
    observe(vehicles, np.zeros((FLAG_ROWS, count), np.int32), lanes, seen, np.zeros(count, np.int32), np.zeros(8))

    rows = np.stack(
        [vehicles[X], vehicles[Y], vehicles[SPEED] * vehicles[COS], vehicles[SPEED] * vehicles[SIN]], axis=1
    )
    ahead = rows[:, 0] - rows[0, 0]
    sight = [
        i for i in range(1, count) if ahead[i] > -10 and np.hypot(ahead[i], rows[i, 1] - rows[0, 1]) < 200.0 - 1e-9
    ]
    nearest = sorted(sight, key=lambda i: abs(ahead[i]))[:4]
    limits = np.array([200.0, 4.0 * lanes, 80.0, 80.0])
    expected = np.zeros((5, 5))
    for row, values in enumerate([rows[0], *(rows[i] - rows[0] for i in nearest)]):
        expected[row] = [1.0, *np.clip(values / limits, -1.0, 1.0)]
    np.testing.assert_allclose(seen, expected, atol=1e-6)
