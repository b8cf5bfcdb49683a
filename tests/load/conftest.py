"""Jobs in processes of their own."""

import pytest


@pytest.fixture(scope="module")
def jobs_by_fork():
    """Start real children: how they end is looked at here."""
