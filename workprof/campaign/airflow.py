"""A campaign as an Airflow DAG: the file that `workprof airflow-dag` writes."""

import json
import shlex
from pathlib import Path

from workprof.campaign.plan import Plan
from workprof.core.errors import SettingsError

MOST_TASKS = 1_000

TEMPLATE = '''"""The campaign {name}: {count} runs, then their import and sizes. Written by workprof airflow-dag."""

import json

from airflow import DAG

try:
    from airflow.providers.standard.operators.bash import BashOperator
except ImportError:  # Airflow 2
    from airflow.operators.bash import BashOperator

RUNS = json.loads({runs})

with DAG(
    dag_id={dag},
    description={description},
    schedule=None,
    catchup=False,
    max_active_runs=1,
    max_active_tasks={at_once},
    tags=["workprof"],
) as dag:
    sized = BashOperator(task_id="import_and_size", bash_command={finish}, trigger_rule="all_done")
    for name, command in RUNS:
        BashOperator(task_id=name, bash_command=command) >> sized
'''


def dag_of(plan: Plan, path: Path) -> str:
    """The source of a DAG: a task per run, and one that imports and sizes; the path is as Airflow's workers see it.

    Raises SettingsError when it has more runs than a DAG should.
    """
    if len(plan.runs) > MOST_TASKS:
        raise SettingsError(
            f"{plan.name} has {len(plan.runs):,} runs; a DAG takes up to {MOST_TASKS:,}: split the plan"
        )
    base = ["workprof", "campaign", "run", str(path)]
    runs = [(run.name, shlex.join([*base, "--only", run.name])) for run in plan.runs]
    return TEMPLATE.format(
        name=plan.name,
        count=len(runs),
        runs=repr(json.dumps(runs, indent=1)),
        dag=repr(f"workprof.{plan.name}"),
        description=repr(f"{len(runs)} runs of the campaign {plan.name}"),
        at_once=plan.at_once,
        finish=repr(shlex.join(base)),
    )
