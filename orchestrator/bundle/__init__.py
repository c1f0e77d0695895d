"""Bundles: a run as one file that others can read, check and start from.

    members.py     what a bundle may hold, under which names, and what each file must look like
    listing.py     the candidates of a run as figures alone: no prose, nothing that a prompt would ever show
    packing.py     `orchestrate export`: a run into a bundle
    unpacking.py   a bundle into a folder, or nothing at all
    importing.py   `orchestrate import`: programs out of a bundle, checked and judged anew

A bundle comes from anyone. Nothing in it is executed or unpickled; it is unpacked by a reader that knows plain files
only, under limits that do not trust what its headers say; and of its words none is read but reward programs, which go
through the checker as a model's would and come out as canonical text.
"""
