"""What a coordinator does backstage: designing generations, reading outcomes, measuring baseline drivers."""

import threading

from actors.archive import Archive, Baseline
from actors.bootstrap import draws_for, weights
from actors.checker import ProgramChecker
from actors.comparison import intervals, judge
from actors.critic import criticise
from actors.deliveries import store_critique, store_program
from actors.drives import read_drives
from actors.evaluator import PolicyDriver, evaluate
from actors.examiner import Examiner
from actors.exchanges import Exchanges
from actors.gate import Gate
from actors.generation import Design, GenerationDesigner
from actors.keys import Credentials
from actors.ledger import Ledger
from actors.linter import Linter
from actors.patience import SystemClock
from actors.plan import SearchPlan
from actors.policy import Policy
from actors.protocols import Ask, ChatProvider, Reader
from actors.providers import open_provider
from actors.reader import LLMReader
from actors.run_files import driver_episodes_file, episodes_file, policy_file
from actors.screen import Screen
from actors.storage import Storage
from actors.strategies import SCREENING, designers
from driving.drivers import DRIVERS, driver_named
from driving.episodes import from_parquet, to_parquet
from search_spaces.language import compile_program

NO_LLM = (
    "no language model was used: the evolver proposes programs; "
    "set GROQ_API_KEY, or pass --llm groq:MODEL or --llm openai:URL#MODEL, to have a model write them"
)


class Studio:
    """Does the slow work of one search; its methods are called from backstage threads.

    Args:
        plan: The search.
        ledger: Where events go.
        storage: Where files go.
        credentials: Keys of the LLM provider.

    Raises:
        UsageError: An LLM spec, URL or folder that cannot be used, or no key for Groq.
    """

    def __init__(self, plan: SearchPlan, ledger: Ledger, storage: Storage, credentials: Credentials) -> None:
        self._plan, self._ledger, self._storage = plan, ledger, storage
        self._stop = threading.Event()
        self._reader: Reader | None = None
        self._provider: ChatProvider | None = None
        self._screening = SCREENING[plan.strategy]
        weights(plan.held_out, draws_for(plan.held_out))  # drawn here, so that no delivery has to wait for it
        self._screen = Screen(plan.scenario)
        self._screened: set[str] = set()
        self._teaching = threading.Lock()
        self._checker = ProgramChecker()
        ask: Ask | None = None
        if plan.llm.spec is not None:
            self._provider = open_provider(plan.llm, credentials, SystemClock(self._stop))
            ask = Exchanges(self._provider, ledger, plan.llm.token_budget, plan.llm.max_tokens).ask
            self._reader = LLMReader(plan, ask)
        designer, evolver = designers(plan, ask)
        linter = Linter(plan.scenario, plan.ppo.discount)
        examiner = Examiner(Gate(plan.scenario), self._checker.check, compile_program, linter)
        self._generations = GenerationDesigner(
            plan, designer, evolver, examiner, self._screen if self._screening.used else None
        )

    def close(self) -> None:
        """Give up requests and waits for a provider, and the checker's process; what they were for is dropped."""
        self._stop.set()
        if self._provider is not None:
            self._provider.close()
        self._checker.close()

    def design(self, generation: int) -> None:
        """Design a generation and write it down; what is written already stays. Designing twice is harmless."""
        if not self._ledger.record.missing(generation):
            return
        archive = self._ledger.record.archive.before(generation)
        for entry in archive.ranked():
            self._teach(entry.candidate.id)
        design = self._generations.design(archive, generation)
        if self._stop.is_set():
            return
        known: Archive = self._ledger.record.archive
        for refusal in design.refusals:
            if refusal.id not in known.refusals:
                self._ledger.write("refused", refusal.to_json())
        if not known.entries(generation):
            if design.verdicts:
                self._ledger.write("screened", {"generation": generation, "verdicts": list(design.verdicts)})
            for notice in self._notices(generation, design):
                self._ledger.write("notice", {"text": notice})
        for candidate in design.candidates:
            if candidate.id not in known.candidates:
                store_program(self._storage, candidate)
                self._ledger.write("accepted", candidate.to_json())

    def _notices(self, generation: int, design: Design) -> list[str]:
        unasked = self._plan.llm.spec is None and self._plan.strategy != "random"
        notices = [NO_LLM] if unasked and generation == 0 else []
        if design.filled:
            last = list(self._ledger.record.failures.values())[-1:]
            why = f"the model did not answer ({last[0].reason})" if design.silent and last else "refusals ran out"
            notices.append(
                f"generation {generation}: {why}; the evolver filled {design.filled} of {self._plan.population} slots"
            )
        return notices

    def read(self, candidate_id: str) -> None:
        """Criticise a trained candidate and write it down, once."""
        archive = self._ledger.record.archive
        if candidate_id in archive.critiques:
            return
        entry, parents = archive.entry(candidate_id), archive.parents(candidate_id)
        if entry.fitness is not None:
            self._teach(candidate_id)
        critique = criticise(entry, parents, read_drives(self._storage, entry, parents, self._plan))
        if self._reader is not None:
            critique = self._reader.read(entry, critique, parents)
        if self._stop.is_set():
            return
        store_critique(self._storage, critique)
        self._bound(candidate_id, episodes_file(candidate_id))
        self._ledger.write("criticised", critique.to_json())

    def _teach(self, candidate_id: str) -> None:
        """Show a trained candidate's policy to the screen, once, where the strategy learns from outcomes."""
        if not self._screening.taught:
            return
        with self._teaching:
            judged = self._ledger.record.archive.fitnesses[candidate_id]
            content = self._storage.read(policy_file(candidate_id))
            if candidate_id in self._screened or judged is None or content is None:
                return
            self._screen.add_policy(candidate_id, PolicyDriver(Policy.from_bytes(content)), judged.value)
            self._screened.add(candidate_id)

    def unmeasured(self) -> list[str]:
        """Return the baselines that wait for `measure`: drivers, and trained ones that were delivered."""
        archive = self._ledger.record.archive
        return [name for name in dict.fromkeys((*DRIVERS, *archive.baselines)) if name not in archive.intervals]

    def measure(self) -> None:
        """Measure the baseline drivers on the held-out episodes, and all baselines' intervals, and write it down."""
        for name in self.unmeasured():
            archive = self._ledger.record.archive
            if name in archive.candidates:
                self._bound(name, episodes_file(name))
                continue
            if name not in archive.baselines:
                metrics, table = evaluate(driver_named(name), self._plan.scenario, self._plan.held_out)
                self._storage.write(driver_episodes_file(name), to_parquet(table))
                judged = judge([table], self._plan.scenario, trained=False)
                baseline = Baseline(name=name, metrics=metrics, fitness=judged)
                self._ledger.write("baseline", baseline.to_json())
            self._bound(name, driver_episodes_file(name))

    def _bound(self, name: str, file: str) -> None:
        """Write down the intervals of all measures, once; none where the single episodes were not kept."""
        archive = self._ledger.record.archive
        if name not in archive.intervals:
            content = self._storage.read(file)
            trained = name in archive.candidates
            found = {} if content is None else intervals([from_parquet(content)], self._plan.scenario, trained=trained)
            self._ledger.write("intervals", {"name": name, "intervals": found})
