"""Who does the work. Each actor is a plain class that is tested without Ray; `spawn.py` puts Ray around it.

A search
    message.py, messages.py, outcome.py, plan.py     every value that crosses from one actor to another
    coordinator.py, agenda.py, backstage.py          ask, tell, deliver; what comes next; slow work in threads
    journal.py, ledger.py, lock.py                   the truth of a run: append-only, one writer
    storage.py, run_files.py, deliveries.py          whole files; what they are called; what is put into them
    record.py, archive.py, summary.py, progress.py   what the journal folds to

Programs before their training
    studio.py, generation.py, examiner.py            designing a generation: propose, examine, replace, screen, accept
    protocols.py, strategies.py                      who proposes and reads; what each strategy sees of the search
    evolver.py, designer.py, reader.py               without a language model, and with one
    gate.py, evidence.py, screen.py                  what a program must survive; which programs are worth a trial
    linter.py, lint_table.py                         what is odd about a program; the rules
    lint_bank.py, lint_drivers.py, lint_rules_*.py   drives that it is tried on, who drives them, what is measured
    epic.py                                          how far apart two rewards are

A trial
    spawn.py, trainer.py, training.py                the coordinator under Ray; a candidate's trial; its PPO run
    rollout.py, advantages.py, training_record.py    batched rollouts for RLlib's PPO
    policy.py, evaluator.py                          trained drivers as plain arrays, and what they are worth
    halving.py                                       when a trial is stopped early

Judgement
    fitness.py, ranking.py, pareto.py                one number; the order of candidates; the front of two measures
    comparison.py, difference.py                     who is better than whom, and when that is shown
    bootstrap.py, pooling.py, intervals.py           how exact it is
    measurement.py                                   with which episodes and which fitness a search measures
    finals.py, standings.py, jury.py                 which trainings choose and confirm the champion; what they say
    conclusion.py, generalisation.py                 what follows: the champion on other roads
    upstream_judge.py, upstream_child.py, upstream_comparison.py
                                                     the champion in highway-env itself
    calibration.py, calibration_cases.py             how right gate, linter, screen and rungs were
    agreement.py, aggregate.py                       rank correlations; what repeated searches say together

Critique
    critic.py, critic_rules.py, critique_text.py     by numbers: what costs most; in words
    detectors.py, detector_table.py, habits.py       the known hacks by name: thresholds, and what is counted
    drives.py, reward_bends.py                       where they look: frame by frame, and where the reward bends

Language models
    chat.py, providers.py, llm.py                    what is said to them; asking one over the network
    attempts.py, patience.py                         how often, and with which waits
    endpoints.py, keys.py, exchanges.py, replay.py   where, with which key, at most once, or from a recording
    prompts.py, critique_prompt.py, prompt_parts.py  what is asked; texts in prompts/
    replies.py, prose.py, wrapped.py                 the program in an answer, without prose, fences and JSON around it
    checker.py, untrusted.py                         what is answered: never run, checked in a child process
"""
