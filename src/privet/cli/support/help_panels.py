"""What ``--help`` shows together: verbs in the order in which one needs them, options by what they are about."""

from collections.abc import Mapping, Sequence
from typing import Any

VERBS = {
    "Begin": ("demo", "schema"),
    "Nobody trusted": ("perturb", "reconstruct"),
    "Train": ("plan", "ledger", "fit", "update", "evaluate"),
    "Several parties": ("party", "combine"),
    "Use a model": ("predict", "explain", "rules", "report", "export"),
    "What stands behind it": ("audit", "papers"),
}
OPTIONS = {
    "What it costs, and whom it protects": (
        "--epsilon", "--unit", "--max-rows", "--ledger", "--dataset", "--part",
        "--no-person-in-two-parts", "--delta",
    ),
    "The forest": ("--method", "--channel", "--strategy", "--trees", "--height", "--variant", "--random-state"),
    "Output": ("--output", "--format", "--force", "--json", "--progress"),
}  # fmt: skip
# With fewer options than this, one panel is easier to read than several.
_MANY_OPTIONS = 8


def in_reading_order(known: Sequence[str]) -> list[str]:
    """Return verbs as `VERBS` lists them, and then those that it does not know."""
    listed = [verb for verbs in VERBS.values() for verb in verbs]
    return [verb for verb in listed if verb in known] + [verb for verb in known if verb not in listed]


def set_panels(commands: Mapping[str, Any]) -> None:
    """Give each verb its panel, and the options of those that have many theirs; a panel set elsewhere stays."""
    panel_of = {verb: panel for panel, verbs in VERBS.items() for verb in verbs}
    for name, command in commands.items():
        command.rich_help_panel = panel_of.get(name)
        _set_option_panels(command)


def _set_option_panels(command: Any) -> None:
    for below in getattr(command, "commands", {}).values():
        _set_option_panels(below)
    panel_of = {option: panel for panel, names in OPTIONS.items() for option in names}
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    if len(options) < _MANY_OPTIONS:
        return
    for option in options:
        found = [panel_of[name] for name in option.opts if name in panel_of]
        if found and option.rich_help_panel is None:
            option.rich_help_panel = found[0]
