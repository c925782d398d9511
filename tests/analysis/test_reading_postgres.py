"""Reports come back from PostgreSQL as they were stored."""

from __future__ import annotations

from contextlib import closing

import psycopg
import pytest

from deniable_analysis import Reports, read_reports
from deniable_protocol import EstimateError
from deniable_server.postgres import PostgresStore
from tests.server.postgres import Postgres

from .samples import EVERY_KIND, SAMPLED, SURVEY, some_reports
from .test_reading import assert_same


def test_every_kind_comes_back():
    """Three surveys in one database: integers, bitmaps, arms, boxes and what was not sent."""
    with Postgres() as server:
        address = server.new_database()
        reports = {s.name: some_reports(60, survey=s) for s in (SURVEY, EVERY_KIND, SAMPLED)}
        with closing(PostgresStore(address)) as store:
            for survey in (SURVEY, EVERY_KIND, SAMPLED):
                published = store.publish(survey)
                store.add([(published, report) for report in reports[survey.name]])
        for survey in (SURVEY, EVERY_KIND, SAMPLED):
            found = read_reports(address, survey.name)
            assert_same(found, Reports.of_reports(survey, reports[survey.name]))
        with pytest.raises(EstimateError, match="name one"):
            read_reports(address)
        with psycopg.connect(address) as connection:
            connection.execute("INSERT INTO deniable_migrations VALUES ('m999_future')")
        with pytest.raises(EstimateError, match=r"newer version of deniable .*m999_future.*update"):
            read_reports(address, "canteen")
    with pytest.raises(EstimateError, match="cannot read the PostgreSQL database") as caught:
        read_reports(address, "canteen")
    assert str(server.folder) not in str(caught.value)
