"""Why and when: the command line and everything that surrounds a search.

cli.py, options.py, commands_*.py    the command line; cli.py is the only composition root
config.py, starts.py                 what was asked for; programs that a search starts from
machine.py, place.py                 which Ray, and whether it holds the plan
search.py, searcher.py               a search under Ray Tune, or in one process
launch.py, single.py                 a search, or one program, with display, tracking and a last word
progress.py, console.py              what a terminal shows, and how untrusted text is made harmless
follower.py, mirror.py               the journal, event by event, into MLflow
points.py, finals_points.py          what its figures are called there; those of the finals and of what follows them
tracking.py, ui.py                   the MLflow store, and a server over it
leaderboard.py, show.py, curves.py   what `show` prints and what MLflow keeps of it
verdict.py, conclusion_tables.py     the finals, and what followed them, printed
lineage.py, provenance.py            ancestors and what changed; commands and versions of each start
runs.py, evaluation.py               finding a run; driving a candidate on other episodes
compare.py, compare_table.py         searches side by side
calibration_table.py                 how right gate, screen, linter and rungs were
report/, bundle/                     a run for others to read; a run as one file
check.py, lint.py                    a program's verdict; what gate and linter say of it
doctor.py, cluster.py                preflight; typing on a cluster's head
"""
