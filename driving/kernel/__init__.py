"""Compiled physics of highway-env's straight highway, one small file for each subject.

`layout.py` says where each quantity lives; `jit.py` is the one wrapper around numba.
"""
