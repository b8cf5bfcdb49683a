"""The files of docs/deploy: what a parser of each kind can tell without an engine or a cluster."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.command_line import run_here
from workprof.cli.main import MODULES

DEPLOY = Path(__file__).resolve().parents[2] / "docs" / "deploy"
UNITS = sorted(DEPLOY.glob("*.service")) + sorted(DEPLOY.glob("*.timer"))
KINDS = {"PersistentVolumeClaim": "v1", "Deployment": "apps/v1", "Service": "v1"}


class Strict(yaml.SafeLoader):
    """YAML in which a key stands once."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key, deep=True) for key, _ in node.value if key.value != "<<"]
        assert len(set(keys)) == len(keys), f"a key twice: {keys}"
        return super().construct_mapping(node, deep)


def read(name):
    return list(yaml.load_all((DEPLOY / name).read_text(encoding="utf-8"), Strict))


def refused(words):
    """Whether a command of ours would refuse these words for their form: they are looked at, and nothing is run."""
    ended = run_here(*words, "--help", home=DEPLOY / "nowhere")
    options = {word for word in words if word.startswith("--")}
    return ended.status != 0 or any(option not in ended.out for option in options) or words[0] not in MODULES


def commands_of_compose():
    return {name: service["command"] for name, service in read("compose.yaml")[0]["services"].items()}


def containers():
    (deployment,) = [one for one in read("kubernetes.yaml") if one["kind"] == "Deployment"]
    return deployment["spec"]["template"]["spec"]["containers"]


def test_every_command_is_one_of_ours():
    units = [re.search(r"^ExecStart=\S+/workprof (.*)$", path.read_text(), re.M)[1].split() for path in UNITS[:3]]
    lines = [*units, *commands_of_compose().values(), *([str(word) for word in one["args"]] for one in containers())]
    assert len(lines) == 9
    assert [words for words in lines if refused(words)] == []
    assert refused(["serve", "--nothing"])
    assert refused(["nothing"])


def test_compose_has_app_service_and_refresh_on_one_home():
    (compose,) = read("compose.yaml")
    assert set(compose["services"]) == {"app", "service", "refresh"}
    for service in compose["services"].values():
        assert service["volumes"] == ["home:/home/workprof/home"]
        assert service["cap_drop"] == ["ALL"]
        for port in service.get("ports", ()):
            assert port.startswith("127.0.0.1:")  # a proxy with TLS stands before it
        build = service["build"]
        assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Containerfile"
    assert set(compose["volumes"]) == {"home"}


def test_kubernetes_names_what_it_uses():
    documents = read("kubernetes.yaml")
    assert {one["kind"]: one["apiVersion"] for one in documents} == KINDS
    (deployment,) = [one for one in documents if one["kind"] == "Deployment"]
    spec, pod = deployment["spec"], deployment["spec"]["template"]["spec"]
    labels = spec["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    assert (spec["replicas"], spec["strategy"]["type"]) == (1, "Recreate")  # a home is one disk
    (service,) = [one for one in documents if one["kind"] == "Service"]
    assert service["spec"]["selector"] == labels
    volumes = {one["name"] for one in pod["volumes"]}
    for container in containers():
        assert {one["name"] for one in container["volumeMounts"]} <= volumes
        assert container["securityContext"]["allowPrivilegeEscalation"] is False
        assert all(isinstance(word, str) for word in container["args"])
        assert all(isinstance(one["value"], str) for one in container["env"])
    ports = {one["containerPort"] for container in containers() for one in container.get("ports", ())}
    assert ports == {one["port"] for one in service["spec"]["ports"]}
    probed = {
        probe["httpGet"]["port"]
        for one in containers()
        for probe in (one.get("livenessProbe"), one.get("readinessProbe"))
        if probe
    }
    assert probed == ports
    (claim,) = [one for one in documents if one["kind"] == "PersistentVolumeClaim"]
    assert claim["metadata"]["name"] in {
        one.get("persistentVolumeClaim", {}).get("claimName") for one in pod["volumes"]
    }


def test_the_image_runs_as_nobody_in_particular_and_keeps_no_secret():
    text = (DEPLOY / "Containerfile").read_text()
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    user = next(line.split()[1] for line in lines if line.startswith("USER "))
    (deployment,) = [one for one in read("kubernetes.yaml") if one["kind"] == "Deployment"]
    assert int(user) == deployment["spec"]["template"]["spec"]["securityContext"]["runAsUser"] > 0
    instructions = {line.split()[0] for line in lines if not line.startswith((" ", "&"))}
    assert instructions <= {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
    assert lines.index(f"USER {user}") < next(at for at, line in enumerate(lines) if line.startswith("ENTRYPOINT"))
    for path in DEPLOY.iterdir():
        assert not re.search(r"(TOKEN|PASSWORD|SECRET)\w*[\s\"]*[=:]\s*\S", path.read_text()), path.name


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_takes_the_units(path, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze here")
    program = tmp_path / "workprof"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    for unit in UNITS:
        text = (
            unit.read_text().replace("/opt/workprof/bin/workprof", str(program)).replace("User=workprof", "User=root")
        )
        (tmp_path / unit.name).write_text(text)
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(tmp_path / path.name)],
        capture_output=True,
        text=True,
        check=False,
    )
    own = [line for line in checked.stderr.splitlines() if "workprof" in line]
    assert (checked.returncode, own) == (0, []), checked.stderr
