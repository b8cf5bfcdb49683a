"""`pytest -m "" tests/contract --freeze` writes what this release promises, for the next one to be held to."""

from tests.pages.conftest import app, home

__all__ = ["app", "home"]


def pytest_addoption(parser):
    parser.addoption("--freeze", action="store_true", help="write the contract of a release anew; compare nothing")
