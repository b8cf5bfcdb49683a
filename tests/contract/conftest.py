from tests.pages.conftest import app, home

__all__ = ["app", "home"]
