"""Who does the work: coordinator, designer, evolver, critic, archive, judge, trainer.

Each actor is a plain class that is tested without Ray; `spawn.py` puts Ray around it. `messages.py` holds every value
that crosses from one to another, `plan.py` what a search is asked to do, `chat.py` what is said to a language model.
"""
