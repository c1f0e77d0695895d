"""Batched rollouts for RLlib's PPO: an environment runner that never touches single episodes.

Stock RLlib builds Python objects for every environment and step, which costs more than the kernel and the network
together. Here a runner hands over one `Fragment` of T x N arrays and a learner connector (`advantages.py`) turns it
into PPO's train batch. `PPO.training_step`, its learner and its loss are RLlib's own.

Every random number comes from generators that belong to the trial, so that an outcome depends on the assignment alone
and not on what the process did before.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core import DEFAULT_MODULE_ID
from ray.rllib.core.columns import Columns
from ray.rllib.env import INPUT_ENV_SINGLE_SPACES, INPUT_ENV_SPACES
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from ray.rllib.utils.metrics import SAMPLE_TIMER, WEIGHTS_SEQ_NO

from actors.advantages import AdvantageConnector, Fragment, ReturnScale, seed_streams
from actors.messages import Assignment
from actors.policy import observation_scaling
from actors.training_record import ComponentTraces, Fault, LearningCurve, find_fault
from driving.kernel.decision import ACTIONS
from driving.kernel.reward_machine import RewardMachine
from driving.vector_env import HighwayVectorEnv
from search_spaces.program import RewardProgram
from search_spaces.scenarios import TRAINING
from search_spaces.state import FIELDS

ENVIRONMENT = "reward-orchestrator"
"""Name under which RLlib wants an environment registered, though the runner builds its own."""


def first_training_seed(seed: int, environments: int) -> int:
    """Return the episode seed of a training's first environment; environment e starts from the e-th after it.

    Two candidates' blocks are disjoint unless their seeds agree modulo the number of blocks that `TRAINING` holds.
    """
    return TRAINING.first + seed % (TRAINING.limit // environments) * environments


class BatchedEnvRunner(SingleAgentEnvRunner):
    """Drives N environments in one array and computes the candidate's reward on their states.

    `env_config` holds one entry: `assignment`, an `actors.messages.Assignment`, and `program`, its compiled
    `RewardProgram` or None for highway-env's own reward.

    Attributes:
        curve: The learning curve so far.
        traces: The component traces so far.
        fault: The first reward that was not finite; None as long as there is none. Learning goes on with rewards of 0
            in that batch, and whoever drives the training must discard it.
    """

    def make_env(self) -> None:
        """Build environments, reward and records from the assignment."""
        assignment: Assignment = self.config.env_config["assignment"]
        program: RewardProgram | None = self.config.env_config["program"]
        settings = assignment.ppo
        self.env = HighwayVectorEnv(settings.environments, assignment.scenario)
        self.num_envs = settings.environments
        self._needs_initial_reset = True
        self._first_seed = first_training_seed(assignment.seed, settings.environments)
        self._exploration = seed_streams(assignment.seed)[1]
        self._factor, self._offset = observation_scaling(settings.scale_observations)
        self._program = program
        self._machine = RewardMachine(program) if program else None
        self._scale = ReturnScale(settings.environments, settings.discount) if settings.normalise_returns else None
        self.steps = 0
        self.fault: Fault | None = None
        decision_s = 1 / assignment.scenario.policy_frequency
        self.curve = LearningCurve(settings.environments, assignment.steps, decision_s)
        self.traces = ComponentTraces(program.component_names if program else (), assignment.steps)

    def get_spaces(self) -> dict[str, Any]:
        """Return the spaces of the batch, of one environment and of the module."""
        single = (self.env.single_observation_space, self.env.single_action_space)
        return {
            INPUT_ENV_SPACES: (self.env.observation_space, self.env.action_space),
            INPUT_ENV_SINGLE_SPACES: single,
            DEFAULT_MODULE_ID: single,
        }

    def sample(self, **_: Any) -> list[Fragment]:
        """Drive every environment for one fragment and log its steps, which PPO's sampling loop counts.

        Raises:
            FloatingPointError: The network diverged. Its weights may still be finite, since RLlib drops gradients that
                are not.
        """
        self.metrics.log_value(WEIGHTS_SEQ_NO, self._weights_seq_no, window=1)
        with self.metrics.log_time(SAMPLE_TIMER):
            fragment = self._drive(self.config.get_rollout_fragment_length(self.worker_index))
        self._increase_sampled_metrics(len(fragment), 0)
        self.num_env_steps_sampled_lifetime += len(fragment)
        return [fragment]

    def get_metrics(self) -> Any:
        """Return the reduced metrics."""
        return self.metrics.reduce()

    @torch.no_grad()
    def _drive(self, decisions: int) -> Fragment:
        if self._needs_initial_reset:
            self._observation, _ = self.env.reset(seed=self._first_seed)
            self._needs_initial_reset = False
        count, width = self._observation.shape
        observations = torch.empty((decisions + 1, count, width))
        scaled = observations.numpy()
        logits = torch.empty((decisions, count, ACTIONS))
        actions = torch.empty((decisions, count), dtype=torch.int64)
        noise = torch.from_numpy(self._exploration.gumbel(size=logits.shape).astype(np.float32))
        states = np.empty((decisions, count, len(FIELDS)))
        native = np.empty((decisions, count))
        terminated = np.empty((decisions, count), np.bool_)
        truncated = np.empty((decisions, count), np.bool_)
        finals = [np.empty((0, width), np.float32)]
        for row in range(decisions):
            scaled[row] = self._observation * self._factor + self._offset
            logits[row] = self.module.forward_exploration({Columns.OBS: observations[row]})[Columns.ACTION_DIST_INPUTS]
            actions[row] = (logits[row] + noise[row]).argmax(-1)
            self._observation, native[row], terminated[row], truncated[row], info = self.env.step(actions[row].numpy())
            states[row] = self.env.states
            out_of_time = truncated[row] & ~terminated[row]
            if out_of_time.any():
                finals.append(info["final_obs"][out_of_time[info["final_index"]]] * self._factor + self._offset)
        scaled[decisions] = self._observation * self._factor + self._offset
        if not torch.isfinite(logits).all():
            raise FloatingPointError("the policy network's outputs are not finite")
        log_probabilities = torch.log_softmax(logits, -1).gather(-1, actions[..., None])[..., 0]
        return Fragment(
            observations=observations,
            actions=actions,
            logits=logits,
            log_probabilities=log_probabilities,
            rewards=self._reward(states, native, terminated, truncated),
            terminated=terminated,
            truncated=truncated,
            final_observations=torch.from_numpy(np.concatenate(finals)),
        )

    def _reward(
        self,
        states: NDArray[np.float64],
        native: NDArray[np.float64],
        terminated: NDArray[np.bool_],
        truncated: NDArray[np.bool_],
    ) -> NDArray[np.float32]:
        own, components = native, np.empty((native.size, 0))
        if self._program is not None and self._machine is not None:
            flat = states.reshape(-1, states.shape[-1])
            result = self._machine.evaluate(flat)
            self.fault = self.fault or find_fault(self._program, flat, result.faults, self.steps)
            if self.fault is not None:
                return np.zeros(native.shape, np.float32)
            own, components = result.totals.reshape(native.shape), result.components
        self.steps += native.size
        ended = terminated | truncated
        self.curve.add(self.steps, own, native, terminated, ended)
        self.traces.add(self.steps, own.ravel(), components)
        learnt = self._scale.normalise(own, ended) if self._scale is not None else own
        return learnt.astype(np.float32)


def ppo_config(assignment: Assignment, program: RewardProgram | None, on_gpu: bool) -> Any:
    """Return RLlib's configuration of a trial: one process, its own runner, one pass over a batch of all epochs.

    Args:
        assignment: What is trained.
        program: Its compiled program; None for highway-env's own reward.
        on_gpu: Whether the learner uses the process's GPU; rollouts stay on the CPU, where the kernel is.
    """
    settings = assignment.ppo
    return (
        PPOConfig()
        .environment(ENVIRONMENT, env_config={"assignment": assignment, "program": program})
        .env_runners(
            env_runner_cls=BatchedEnvRunner,
            num_env_runners=0,
            num_envs_per_env_runner=settings.environments,
            rollout_fragment_length=settings.batch // settings.environments,
        )
        .learners(
            num_learners=0,
            num_gpus_per_learner=int(on_gpu),
            learner_connector=lambda observations, actions: AdvantageConnector(
                observations, actions, assignment=assignment
            ),
            add_default_connectors_to_learner_pipeline=False,
        )
        .training(
            train_batch_size_per_learner=settings.batch,
            minibatch_size=settings.minibatch,
            num_epochs=1,
            shuffle_batch_per_epoch=False,
            lr=settings.learning_rate,
            gamma=settings.discount,
            lambda_=settings.gae_lambda,
            clip_param=settings.clip,
            vf_clip_param=float("inf"),
            vf_loss_coeff=settings.value_weight,
            entropy_coeff=settings.entropy,
            use_kl_loss=False,
            grad_clip=settings.gradient_clip,
            grad_clip_by="global_norm",
        )
        .rl_module(
            model_config={
                "fcnet_hiddens": list(settings.hidden),
                "fcnet_activation": "tanh",
                "vf_share_layers": False,
            }
        )
        # Its thread for system usage would hold up the end of every trial by most of a second.
        .debugging(log_level="ERROR", log_sys_usage=False)
    )
