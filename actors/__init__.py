"""Who does the work. Each actor is a plain class that is tested without Ray; `spawn.py` puts Ray around it.

message.py, messages.py, plan.py, chat.py        every value that crosses from one actor to another
coordinator.py, agenda.py, backstage.py          ask, tell, deliver; what comes next; slow work in threads
studio.py, generation.py, examiner.py            designing a generation: propose, examine, replace, screen, accept
protocols.py, evolver.py, designer.py, reader.py who proposes and reads, without and with a language model
gate.py, evidence.py, screen.py                  what a program must survive; which programs are worth a trial
fitness.py, ranking.py                           judgement: one number, and the order of candidates
bootstrap.py, comparison.py, intervals.py        how exact it is, and who is better than whom;
difference.py                                    when that is shown
critic.py, rules.py, critique_text.py            critique by numbers: what costs most; in words
detectors.py, detector_table.py, habits.py       the known hacks by name: thresholds, and what is counted
drives.py, thresholds.py                         where they look: frame by frame, and where the reward bends
journal.py, storage.py, lock.py, ledger.py       the truth of a run: append-only, whole files, one writer
record.py, archive.py, summary.py, progress.py   what the journal folds to
spawn.py, trainer.py, training.py, deliveries.py the coordinator under Ray; a candidate's trial; what it delivers
rollout.py, advantages.py, training_record.py    batched rollouts for RLlib's PPO
policy.py, evaluator.py                          trained drivers as plain arrays, and what they are worth
providers.py, llm.py, attempts.py, patience.py   asking a model over the network
endpoints.py, keys.py, exchanges.py, replay.py   where, with which key, at most once, or from a recording
prompts.py, critique_prompt.py, prompt_parts.py  what is asked; texts in prompts/
replies.py, prose.py, wrapped.py                 the program in an answer, without prose, fences and JSON around it
checker.py, untrusted.py                         what is answered: never run, checked in a child process
"""
