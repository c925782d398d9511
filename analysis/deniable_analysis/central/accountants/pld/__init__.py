"""Privacy loss distributions: the tightest accountant, with certified bounds on both sides."""
