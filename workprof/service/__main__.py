"""`python -m workprof.service`: what `workprof serve --api` becomes once its options are read."""

import json
import os
import sys

from workprof.core.roles import Role
from workprof.core.settings import from_environment
from workprof.service.app import make_app
from workprof.service.guard import Doors, Limits
from workprof.service.server import end_process, serve
from workprof.service.state import State
from workprof.store.doors import proxy_of
from workprof.store.users import Users
from workprof.workbench import Workbench


def main(options: dict[str, str | int | float]) -> None:
    """Serve until a signal ends the process; options are host, port, dataset, rate, timeout_s and body_bytes."""
    settings, dataset = from_environment(), str(options["dataset"])
    with Workbench(settings) as workbench:
        state = State(workbench, dataset)
        doors = Doors(os.environ.get("WORKPROF_TOKEN", ""), Users(settings.home), proxy_of(os.environ))
        limits = Limits(int(options["body_bytes"]), float(options["rate"]), float(options["timeout_s"]))
        app = make_app(
            state,
            lambda: State(Workbench(settings.seen_by(Role.VIEWER)), dataset),
            doors=doors,
            limits=limits,
        )
        served = serve(app, str(options["host"]), int(options["port"]))
    end_process(0 if served else 1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
