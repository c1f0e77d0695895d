"""The report of a run, for someone who has not seen the project: one HTML file, and the same as Markdown.

gather.py, claim.py         the record and the run's files as one value, nothing formatted
films.py                    films of the same traffic, and of what findings are about
opening.py, standings.py, against.py, course.py, champion.py, evidence.py, elsewhere.py, repeat.py
                            its sections, each a function of that value
document.py, wording.py     what a section is made of; how numbers are put into words
plots.py, style.py          plots, each for a page and for a phone
compose.py                  the order of the sections
html.py, markdown.py        the two forms; the only places where texts are escaped
write.py, attach.py         all of it, into files; beside its search in MLflow
"""
