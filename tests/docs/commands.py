"""The commands that the documents show: read from the files themselves, their placeholders bound to real things."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import typer

from workprof.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = ("index", "commands", "settings", "results", "security", "built")
DOCUMENTS = ("README.md", "data/README.md", *(f"docs/{name}.md" for name in PAGES))
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(workprof(?: [^`]*)?)`")
PLACEHOLDER = re.compile(r"\b[A-Z][A-Z_]*\b")
FILE = re.compile(r"^[\w./{}-]+\.\w+$")
SERVING = ("demo", "serve")


@dataclass(frozen=True)
class Shown:
    """A command as a document shows it: where, and its words after `workprof`."""

    place: str
    words: tuple

    @property
    def text(self):
        """The line, for messages."""
        return shlex.join(["workprof", *self.words])

    def starts(self, *words):
        """Whether it is this command."""
        return self.words[: len(words)] == words


def fenced(language=""):
    """Return (document, text) of every fenced block of a language."""
    found = []
    for name in DOCUMENTS:
        for given, text in FENCE.findall((ROOT / name).read_text(encoding="utf-8")):
            if given == language:
                found.append((name, text))
    return found


def shown_commands():
    """Return every `workprof` line of a fenced block."""
    found = []
    for name, text in fenced():
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["workprof"]:
                found.append(Shown(name, tuple(words[1:])))
    return found


def mentioned_commands():
    """Return every command between backticks: in the documents and in the texts of the program."""
    files = [ROOT / name for name in DOCUMENTS]
    files += [path for folder in ("workprof", "pages") for path in sorted((ROOT / folder).rglob("*.py"))]
    found = []
    for path in files:
        if "dashboard" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".py":
            text = re.sub(r'"\s*\n\s*f?"', "", text)  # a text that goes on in the next line of the source
        for command in INLINE.findall(text):
            found.append(Shown(str(path.relative_to(ROOT)), tuple(command.split()[1:])))
    return found


def placeholders(words):
    """Return the words of a command that stand for something of the reader's."""
    found = []
    for word in words:
        value = word.partition("=")[2] if "=" in word else word
        named = PLACEHOLDER.fullmatch(value) or FILE.match(value)
        if named and not value.startswith("-"):
            found.append(value)
    return found


def options_of(words):
    """Return the options of the command that the words begin with; None where there is no such command."""
    command = typer.main.get_command(app)
    known = {"--help", "--json", "--home"} if "COMMAND" in words[:1] else {"--help"}
    for word in words:
        if word == "COMMAND":
            return known
        inside = getattr(command, "commands", {})
        if word in inside:
            command = inside[word]
        elif inside and not word.startswith("-"):
            return None
        else:
            break
    return known | {flag for one in command.params for flag in (*one.opts, *one.secondary_opts)}
