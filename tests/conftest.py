"""One profile for all property tests: the same examples on every run and every machine, and no clock."""

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    suppress_health_check=(HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large),
)
settings.load_profile("steady")
