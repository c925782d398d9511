"""Placeholder docstring, replaced by the part itself."""
