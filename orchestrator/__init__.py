"""Why and when: command line, configuration, Tune wiring, tracking, report. The only composition root."""
