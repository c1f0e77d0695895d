"""Why and when: the command line and everything that surrounds a search.

cli.py, options.py, commands_*.py    the command line; cli.py is the only composition root
config.py, machine.py, place.py      what was asked for; which Ray, and whether it holds the plan
search.py, searcher.py               a search under Ray Tune, or in one process
launch.py, single.py                 a search, or one program, with display, tracking and a last word
progress.py, console.py              what a terminal shows, and how untrusted text is made harmless
follower.py, mirror.py, points.py    the journal, event by event, into MLflow
tracking.py, ui.py                   the MLflow store, and a server over it
leaderboard.py, show.py, curves.py what `show` prints and what MLflow keeps of it
runs.py, evaluation.py               finding a run; driving a candidate on other episodes
check.py, doctor.py, cluster.py      a program's verdict; preflight; typing on a cluster's head
"""
