"""Estimates, intervals, reading and the results page."""
