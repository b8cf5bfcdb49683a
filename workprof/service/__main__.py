"""`python -m workprof.service`: what `workprof serve --api` becomes once its options are read."""

import json
import os
import sys

from workprof.core.settings import from_environment
from workprof.service.app import make_app
from workprof.service.guard import Limits
from workprof.service.server import end_process, serve
from workprof.service.state import State
from workprof.workbench import Workbench


def main(options: dict[str, str | int | float]) -> None:
    """Serve until a signal ends the process; options are host, port, dataset, rate, timeout_s and body_bytes."""
    with Workbench(from_environment()) as workbench:
        state = State(workbench, str(options["dataset"]))
        limits = Limits(int(options["body_bytes"]), float(options["rate"]), float(options["timeout_s"]))
        app = make_app(state, token=os.environ.get("WORKPROF_TOKEN", ""), limits=limits)
        served = serve(app, str(options["host"]), int(options["port"]))
    end_process(0 if served else 1)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
