"""What deploy/ holds: files that their own tools take, and command lines that privet takes."""

import configparser
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer
import yaml

from privet.cli.app import app

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service"))
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
# What privet is asked for in a line of a shell: by its name, or by the service of the compose file.
ASKED = re.compile(r"(?:^privet|/privet|compose .* collect) ((?:collect|serve) .*)")
CONTAINERFILE = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")


def check_words(words):
    """Refuse a command line with a verb, an option or a value that privet does not have."""
    command, path = typer.main.get_command(app), []
    while hasattr(command, "commands"):
        path.append(words[0])
        command, words = command.commands[words[0]], words[1:]
    command.make_context(" ".join(path), list(words))


def instructions(name):
    return [line.removeprefix(name).strip() for line in CONTAINERFILE.splitlines() if line.startswith(f"{name} ")]


def unit(path):
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str
    read.read(path)
    return read


def test_there_is_a_unit_for_each_server():
    assert [path.stem for path in UNITS] == ["privet-collect", "privet-serve"]


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_a_unit_runs_what_privet_has_as_nobody_in_particular(path):
    service = unit(path)["Service"]
    program, *words = shlex.split(service["ExecStart"])
    assert program == "/opt/privet/bin/privet"
    check_words(words)
    assert f"%S/{service['StateDirectory']}/" in service["ExecStart"]
    hardened = {"DynamicUser": "yes", "ProtectSystem": "strict", "NoNewPrivileges": "yes", "StateDirectoryMode": "0700",
                "CapabilityBoundingSet": "", "UMask": "0077"}  # fmt: skip
    assert {name: service[name] for name in hardened} == hardened


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.stem)
def test_systemd_takes_a_unit(path, tmp_path):
    tool = shutil.which("systemd-analyze")
    if tool is None:
        assert {"Unit", "Service", "Install"} == set(unit(path).sections())
        return
    copy = tmp_path / path.name
    copy.write_text(path.read_text().replace("/opt/privet/bin/privet", sys.executable))
    checked = subprocess.run([tool, "verify", str(copy)], capture_output=True, text=True, check=False)
    assert (checked.returncode, path.stem in checked.stderr) == (0, False), checked.stderr


def test_systemd_would_refuse_a_unit_with_a_fault(tmp_path):
    tool = shutil.which("systemd-analyze")
    if tool is None:
        return
    copy = tmp_path / UNITS[0].name
    copy.write_text(UNITS[0].read_text().replace("DynamicUser=yes", "DynamicUser=perhaps"))
    assert "privet-collect" in subprocess.run([tool, "verify", str(copy)], capture_output=True, text=True).stderr


def test_the_compose_file_has_no_password_and_opens_no_port_to_others():
    services = COMPOSE["services"]
    assert set(services) == {"database", "collect"}
    for service in services.values():
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
        for name, value in service["environment"].items():
            if re.search("PASSWORD|SECRET|URL", name):
                assert name.endswith("_FILE")
                assert value.removeprefix("/run/secrets/") in service["secrets"]
    assert "ports" not in services["database"]
    assert COMPOSE["networks"]["inside"]["internal"] is True
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    for secret in COMPOSE["secrets"].values():
        assert f"/deploy/{secret['file'].split('/')[0]}/" in ignored
    check_words(services["collect"]["command"])


def undeclared(compose):
    """Return what services of a compose file name and the file does not declare."""
    services = compose["services"]
    found = {(kind, name) for kind in ("networks", "secrets") for own in services.values()
             for name in own.get(kind, []) if name not in compose[kind]}  # fmt: skip
    mounted = {volume.split(":")[0] for own in services.values() for volume in own.get("volumes", [])}
    found |= {("volumes", name) for name in mounted - set(compose["volumes"])}
    return found | {("services", name) for own in services.values() for name in own.get("depends_on", {})
                    if name not in services}  # fmt: skip


def test_the_compose_file_declares_what_its_services_name_and_builds_what_is_there():
    assert undeclared(COMPOSE) == set()
    build = COMPOSE["services"]["collect"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).samefile(DEPLOY / "Containerfile")
    for kind in ("networks", "secrets", "volumes"):
        for name in COMPOSE[kind]:
            less = {**COMPOSE, kind: {own: told for own, told in COMPOSE[kind].items() if own != name}}
            assert undeclared(less) == {(kind, name)}  # so that a name that is missing shows


def test_the_compose_client_takes_the_file():
    docker = shutil.which("docker")
    has_compose = docker and subprocess.run([docker, "compose", "version"], capture_output=True).returncode == 0
    command = [docker, "compose", "-f", str(DEPLOY / "compose.yaml"), "config", "--quiet"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False) if has_compose else None
    assert checked is None or checked.returncode == 0, checked.stderr


def test_the_image_has_what_its_steps_name_and_runs_as_another_user():
    for line in instructions("COPY"):
        assert all((ROOT / name).exists() for name in line.split()[:-1])
    (extras,) = re.findall(r"/build\[([a-z,]+)\]", CONTAINERFILE)
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(extras.split(",")) <= set(known)
    assert {"serve", "postgres"} <= set(extras.split(","))
    assert instructions("USER") == ["privet"]
    assert instructions("ENTRYPOINT") == ['["privet"]']
    check_words(yaml.safe_load(instructions("CMD")[0]))
    assert instructions("HEALTHCHECK")


@pytest.mark.parametrize("page", ["collect", "deploy"])
def test_every_command_of_a_page_is_one_that_privet_has(page):
    text = (ROOT / "docs" / f"{page}.md").read_text()
    lines = [line for block in re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
             for line in block.replace("\\\n", " ").splitlines()]  # fmt: skip
    asked = [found[1] for line in lines if (found := ASKED.search(line))]
    assert asked
    for words in asked:
        check_words(shlex.split(words, comments=True))
