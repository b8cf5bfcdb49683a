"""One importing process for the tests of a file."""

import pytest

from tests.faults.forked import Forks


@pytest.fixture(scope="module")
def forks():
    server = Forks()
    yield server
    server.close()


@pytest.fixture(scope="module")
def jobs_by_fork():
    """Start real children: how they end is looked at here."""
