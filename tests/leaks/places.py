"""All places that are searched for leaks, in groups, and the page's table of them."""

from tests.leaks import command_places, error_places, model_places, party_places, process_places
from tests.leaks.place import Place

PLACES: tuple[Place, ...] = (
    *error_places.place.places,
    *model_places.place.places,
    *command_places.place.places,
    *party_places.place.places,
    *process_places.place.places,
)
QUICK = tuple(own for own in PLACES if not own.slow)
SLOW = tuple(own for own in PLACES if own.slow)


def page_table() -> str:
    """Return the table of docs/leaks.md."""
    lines = ["| where | what is searched | values | exact numbers | run by |", "|---|---|---|---|---|"]
    for own in PLACES:
        numbers, run = "yes" if own.counts else "no", "`make slow`" if own.slow else "`make test`"
        lines.append(f"| {own.group} | {own.name} | yes | {numbers} | {run} |")
    return "\n".join(lines)
