"""The web intake: it publishes surveys, takes noisy reports and stores nothing else."""

from .app import create_app as create_app
from .store import ReportStore as ReportStore

__all__ = ["ReportStore", "create_app"]
