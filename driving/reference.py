"""highway-env itself behind the interface of `HighwayVectorEnv`: the parity oracle and the independent judge.

Upstream code decides, moves, collides, observes and rewards. After each of its physics frames the whole state is copied
into the arrays of the batch, on which the project's own measures and reward states are taken. One core takes about 50
decisions a second on `highway-fast-v0` and 5 on `highway-v0`.
"""

import numpy as np
from numpy.typing import NDArray

from driving.kernel.decision import ACTIONS, begin_decision, conclude_decision, finish_episode, keep_frame
from driving.kernel.layout import CRASHED, EGO_ACTIONS, HEADING, LANE, SPEED
from driving.kernel.records import NATIVE_RETURN, begin_episode, measure_frame
from driving.reward_state import begin_state
from driving.upstream import read_vehicles, seat_driver, upstream_environment, write_vehicles
from driving.vector_env import HighwayVectorEnv
from search_spaces.scenarios import Scenario


class ReferenceVectorEnv(HighwayVectorEnv):
    """N highways of highway-env 1.12.1, stepped one after the other; everything else is as in `HighwayVectorEnv`.

    `vehicles` and `flags` are copies of upstream's state: use `inject` to change it.
    """

    def __init__(
        self, num_envs: int, scenario: Scenario, *, autoreset: bool = True, ego_driver: int = EGO_ACTIONS
    ) -> None:
        super().__init__(num_envs, scenario, autoreset=autoreset, ego_driver=ego_driver)
        self.environments = [upstream_environment(scenario) for _ in range(num_envs)]

    def inject(self, vehicles: NDArray[np.float64], flags: NDArray[np.int32]) -> None:
        """Put whole states into every environment between two decisions; see `HighwayVectorEnv.inject`."""
        super().inject(vehicles, flags)
        for env, environment in enumerate(self.environments):
            write_vehicles(environment, vehicles[env], flags[env])
            read_vehicles(environment, self.vehicles[env], self.flags[env])

    def _reset_batch(self, seeds: NDArray[np.uint64]) -> None:
        batch = self._batch
        for env in range(self.num_envs):
            self._start_episode(env, int(seeds[env]) if seeds.size else None)
            begin_state(batch.vehicles[env], batch.flags[env], batch.road, batch.states[env])
            batch.rewards[env] = 0.0
            batch.terminated[env] = batch.truncated[env] = False

    def _start_episode(self, env: int, seed: int | None) -> None:
        batch, environment = self._batch, self.environments[env]
        batch.observations[env], _ = environment.reset(seed=seed)
        seat_driver(environment, self.ego_driver)
        read_vehicles(environment, batch.vehicles[env], batch.flags[env])
        batch.clock[env] = 0.0
        batch.active[env] = True
        begin_episode(
            batch.vehicles[env], batch.passed[env], batch.memory[env], batch.running[env], batch.running_histograms[env]
        )

    def _step_batch(self, actions: NDArray[np.int64]) -> int:
        for env in range(self.num_envs):
            if not 0 <= actions[env] < ACTIONS:
                return -1 - env
        batch = self._batch
        ended = 0
        for env in range(self.num_envs):
            if not batch.active[env]:
                batch.rewards[env] = 0.0
                continue
            self._decide(env, int(actions[env]))
            if batch.terminated[env] or batch.truncated[env]:
                ended += 1
                finish_episode(batch, env)
                batch.final_observations[env] = batch.observations[env]
                batch.active[env] = False
                if self.autoreset:
                    self._start_episode(env, None)
        return ended

    def _decide(self, env: int, action: int) -> None:
        batch, environment = self._batch, self.environments[env]
        frame = 0

        def follow() -> None:
            nonlocal frame
            self._follow_frame(env, frame)
            frame += 1

        begin_decision(batch, env)
        earned = batch.running[env, NATIVE_RETURN]
        # Upstream calls this after every frame but the last; it draws only when a viewer is open.
        environment._automatic_rendering = follow
        chosen = action if self.ego_driver == EGO_ACTIONS else None
        batch.observations[env], reward, terminated, truncated, _ = environment.step(chosen)
        follow()
        conclude_decision(batch, env)
        batch.rewards[env] = reward
        batch.running[env, NATIVE_RETURN] = earned + reward
        batch.terminated[env] = terminated
        batch.truncated[env] = truncated

    def _follow_frame(self, env: int, frame: int) -> None:
        """Copy a frame that upstream has just finished, and measure it."""
        batch = self._batch
        vehicles, flags = batch.vehicles[env], batch.flags[env]
        crashed = flags[CRASHED, 0]
        before = (float(vehicles[SPEED, 0]), float(vehicles[HEADING, 0]), int(flags[LANE, 0]))
        read_vehicles(self.environments[env], vehicles, flags)
        if not crashed:
            measure_frame(
                vehicles,
                flags,
                batch.road,
                before,
                batch.passed[env],
                batch.memory[env],
                batch.running[env],
                batch.running_histograms[env],
            )
        if env == self._film:
            keep_frame(batch, env, frame)
