"""One importing process for the tests of a file."""

import pytest

from tests.faults.forked import Forks


@pytest.fixture(scope="module")
def forks():
    server = Forks()
    yield server
    server.close()
