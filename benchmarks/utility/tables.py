"""The tables of the page in Markdown, made from a summary."""

import math
from collections.abc import Collection, Iterable, Sequence

from benchmarks.utility.methods import EPSILONS, FOREST, FOREST_DELTA, LOCAL_EPSILONS, METHODS, NOT_PROVEN, Kind
from benchmarks.utility.peers import SYNTHETIC_PEERS
from benchmarks.utility.plan import LOCAL_TABLES, SYNTHETIC_TABLES
from benchmarks.utility.splits import GROUPS, TABLES
from benchmarks.utility.store import Cell
from benchmarks.utility.summary import Lead, Place, Summary

# At the price at which other scores than accuracy are shown beside it.
_SHOWN = 1.0
_PRICES = (f"epsilon {EPSILONS[0]:g}", *(f"{epsilon:g}" for epsilon in EPSILONS[1:]))


def markdown(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table; columns of words stand to the left, figures to the right."""
    cells = [list(line) for line in lines]
    columns = zip(*cells, strict=True) if cells else [()] * len(header)
    rule = ["---" if any(cell.lstrip("`*")[:1].isalpha() for cell in column) else "---:" for column in columns]
    return "\n".join(f"| {' | '.join(line)} |" for line in (header, rule, *cells))


def names_of(*kinds: Kind) -> list[str]:
    """Return the methods of some kinds."""
    return [name for name, method in METHODS.items() if method.kind in kinds]


def for_all_classes() -> list[str]:
    """Return the methods with a price that can be fitted to any table, and are."""
    priced = names_of("own", "variant", "baseline", "peer")
    return [name for name in priced if not (METHODS[name].binary_only or METHODS[name].apart)]


def rivals(*, with_variants: bool = False) -> list[str]:
    """Return what the recommended forest is compared with: all that promises something, but its own other form."""
    priced = names_of("own", "baseline", "peer", *(("variant",) if with_variants else ()))
    return [name for name in priced if name not in (FOREST, FOREST_DELTA) and METHODS[name].promise != NOT_PROVEN]


def mean_table(summary: Summary, methods: Sequence[str], tables: Sequence[str]) -> str:
    """Return mean accuracies over tables at each epsilon, and the other scores at epsilon 1; the best first."""
    header = [
        "method", "promise", *_PRICES, "gap closed at 1", "balanced at 1", "AUC at 1", "log loss at 1", "fit at 1",
    ]  # fmt: skip
    order = sorted(methods, key=lambda method: -summary.over_tables(method, _SHOWN, tables))
    return markdown(header, [_mean_line(summary, method, tables) for method in order])


def _mean_line(summary: Summary, method: str, tables: Sequence[str]) -> list[str]:
    def of(score: str) -> float:
        return summary.over_tables(method, _SHOWN, tables, lambda place: summary.mean(place, score))

    accuracies = [percent(summary.over_tables(method, epsilon, tables)) for epsilon in EPSILONS]
    gap = summary.over_tables(method, _SHOWN, tables, summary.gap_closed)
    return [
        emphasised(method), METHODS[method].promise, *accuracies, figure(100 * gap, ".0f"),
        percent(of("balanced_accuracy")), figure(of("auc"), ".3f"), figure(of("log_loss"), ".2f"),
        f"{figure(of('fit_seconds'), '.2g')} s",
    ]  # fmt: skip


def gap_table(summary: Summary, methods: Sequence[str], tables: Sequence[str]) -> str:
    """Return the mean share of the gap in percent, by group of tables and epsilon; the best over all first."""
    groups = [[table for table in group if table in tables] for group in GROUPS.values()]
    peers = names_of("peer")  # one that knows two classes only is picked where it can be

    def shares(method: str) -> list[float]:
        return [summary.over_tables(method, e, group, summary.gap_closed) for group in groups for e in EPSILONS]

    best = [summary.best_gap_closed(peers, e, group) for group in groups for e in EPSILONS]
    found = [(emphasised(name), METHODS[name].promise, shares(name)) for name in methods]
    found.append(("the best peer, picked in each cell", "", best))
    found.sort(key=lambda line: -sum(0.0 if math.isnan(share) else share for share in line[2]))
    header = ["method", "promise"]
    header += [price if e else f"{title}: {price}" for title in GROUPS for e, price in enumerate(_PRICES)]
    return markdown(header, [[name, promise, *(figure(100 * s, ".0f") for s in own)] for name, promise, own in found])


def loss_counts(summary: Summary, leads: Sequence[Lead]) -> str:
    """Return how often another method is ahead of the recommended forest, by group of tables."""
    header = ["tables", "cells", "another is ahead", "clearly", "a peer is ahead", "clearly"]
    lines = []
    for title, group in {**GROUPS, "all": TABLES}.items():
        cells = [Place(FOREST, table, epsilon) for table in group for epsilon in EPSILONS]
        own = [lead for lead in leads if lead.place.table in group]
        of_peers = [lead for lead in own if METHODS[lead.place.method].kind == "peer"]
        counts = (sum(summary.repeats(cell) > 0 for cell in cells), len(own), sum(lead.is_clear for lead in own))
        lines.append([title, *map(str, (*counts, len(of_peers), sum(lead.is_clear for lead in of_peers)))])
    return markdown(header, lines)


def score_table(summary: Summary, methods: Sequence[str], tables: Sequence[str], score: str, form: str) -> str:
    """Return a score's means over tables, a line a method, a column an epsilon."""

    def cell(method: str, epsilon: float) -> str:
        return figure(summary.over_tables(method, epsilon, tables, lambda place: summary.mean(place, score)), form)

    header = ["method", *_PRICES]
    return markdown(header, [[emphasised(m), *(cell(m, epsilon) for epsilon in EPSILONS)] for m in methods])


def rank_table(summary: Summary, methods: Sequence[str], tables: Sequence[str]) -> str:
    """Return mean ranks by accuracy, and how often each method is the best of all."""
    columns = [summary.ranks(methods, epsilon, tables) for epsilon in EPSILONS]
    wins = [_wins(summary, method, methods, tables) for method in methods]
    order = sorted(range(len(methods)), key=lambda m: sum(column[m] for column in columns))
    lines = [[emphasised(methods[m]), *(f"{column[m]:.1f}" for column in columns), str(wins[m])] for m in order]
    header = ["method", *_PRICES, f"best of {len(tables) * len(EPSILONS)} cells"]
    return markdown(header, lines)


def _wins(summary: Summary, method: str, methods: Sequence[str], tables: Sequence[str]) -> int:
    first = [method, *methods]  # equals all win
    return sum(summary.leader(table, epsilon, first) == method for table in tables for epsilon in EPSILONS)


def loss_table(summary: Summary, leads: Sequence[Lead]) -> str:
    """Return where another method is ahead of the recommended forest."""
    header = ["table", "epsilon", "ahead", "promise", "its accuracy", "the forest's", "points", "clear"]
    return markdown(header, [_loss_line(summary, lead) for lead in leads])


def _loss_line(summary: Summary, lead: Lead) -> list[str]:
    place = lead.place
    points = f"+{100 * lead.ahead:.1f}" + ("" if math.isnan(lead.error) else f" ± {100 * lead.error:.1f}")
    return [
        place.table, f"{place.epsilon:g}", place.method, METHODS[place.method].promise, percent(summary.mean(place)),
        percent(summary.mean(place._replace(method=FOREST))), points, "yes" if lead.is_clear else "no",
    ]  # fmt: skip


def duel_table(summary: Summary) -> str:
    """Return, for each rival, in how many cells it is ahead of the recommended forest and behind it."""
    lines = [_duel_line(name, summary.leads(name, FOREST, EPSILONS)) for name in rivals(with_variants=True)]
    return markdown(["rival", "promise", "cells", "ahead", "behind", "points on average"], lines)


def _duel_line(rival: str, leads: Sequence[Lead]) -> list[str]:
    def cells(ahead: list[Lead]) -> str:
        return f"{len(ahead)} ({sum(lead.is_clear for lead in ahead)})"

    turned = [lead.turned for lead in leads]
    points = 100 * sum(lead.ahead for lead in leads) / len(leads) if leads else math.nan
    return [
        rival, METHODS[rival].promise, str(len(leads)), cells([lead for lead in leads if lead.ahead > 0]),
        cells([lead for lead in turned if lead.ahead > 0]), figure(points, "+.1f"),
    ]  # fmt: skip


def one_table(summary: Summary, table: str) -> str:
    """Return a table's accuracies with their standard deviations over splits and the number of splits."""
    header = ["method", *_PRICES, "splits"]
    priced = names_of("own", "variant", "baseline", "peer")
    lines = [_accuracies(summary, method, table, EPSILONS) for method in priced]
    lines += [_clear_line(summary, method, table) for method in names_of("clear")]
    return markdown(header, [line for line in lines if line[-1] != "0"])


def _accuracies(summary: Summary, method: str, table: str, epsilons: Sequence[float]) -> list[str]:
    places = [Place(method, table, epsilon) for epsilon in epsilons]
    return [emphasised(method), *(with_deviation(summary, place) for place in places), splits(summary, places)]


def _clear_line(summary: Summary, method: str, table: str) -> list[str]:
    place = Place(method, table, None)
    blank = ["" for _ in EPSILONS[1:]]
    return [f"{method}, no privacy", with_deviation(summary, place), *blank, splits(summary, [place])]


def local_table(summary: Summary) -> str:
    """Return the accuracies of what trusts nobody, and what guessing and no privacy get."""
    header = ["table", "method", *(f"{epsilon:g}" for epsilon in LOCAL_EPSILONS), "splits", "guessing", "no privacy"]
    lines = []
    for table in LOCAL_TABLES:
        bounds = [percent(summary.majority(table)), percent(summary.ceiling(table))]
        lines += [[table, *_accuracies(summary, m, table, LOCAL_EPSILONS), *bounds] for m in names_of("local")]
    return markdown(header, lines)


def synthetic_table(summary: Summary, failures: Collection[Cell]) -> str:
    """Return, on the first split, the accuracies of what draws synthetic rows, and of others beside it."""
    first = Summary({cell: scores for cell, scores in summary.results.items() if cell.repeat == 0})
    stopped = {Place(*cell[:3]) for cell in failures if cell.repeat == 0}

    def accuracy(method: str, table: str, epsilon: float) -> str:
        place = Place(method, table, epsilon)
        return "stopped" if place in stopped else percent(first.mean(place))

    lines = []
    for table in SYNTHETIC_TABLES:
        if any(first.repeats(Place(name, table, epsilon)) for name in SYNTHETIC_PEERS for epsilon in EPSILONS):
            bounds = [percent(first.majority(table)), percent(first.ceiling(table))]
            lines += [
                [table, emphasised(name), *(accuracy(name, table, epsilon) for epsilon in EPSILONS), *bounds]
                for name in (FOREST, FOREST_DELTA, *SYNTHETIC_PEERS)
            ]
    return markdown(["table", "method", *_PRICES, "guessing", "no privacy"], lines)


def setting_table() -> str:
    """Return how every method is called."""
    lines = [[name, method.promise, f"`{method.setting}`"] for name, method in METHODS.items()]
    return markdown(["method", "promise", "call"], lines)


def summary_lines(summary: Summary) -> list[list[str]]:
    """Return the lines of the summary as CSV, the header first."""
    scores = ("accuracy", "balanced_accuracy", "auc", "log_loss", "fit_seconds")
    header = ["method", "table", "epsilon", "splits", "accuracy_sd", *scores]
    order = {name: position for position, name in enumerate((*METHODS, *TABLES))}
    places = sorted(summary.places, key=lambda p: (order[p.table], order[p.method], p.epsilon or 0.0))
    lines = [
        [
            place.method, place.table, "" if place.epsilon is None else f"{place.epsilon:g}",
            str(summary.repeats(place)), figure(summary.deviation(place), ".4f"),
            *(figure(summary.mean(place, score), ".4f") for score in scores),
        ]
        for place in places
    ]  # fmt: skip
    return [header, *lines]


def with_deviation(summary: Summary, place: Place) -> str:
    """Return an accuracy in percent, with its standard deviation over splits where there are two."""
    deviation = summary.deviation(place)
    return percent(summary.mean(place)) + ("" if math.isnan(deviation) else f" ({100 * deviation:.1f})")


def splits(summary: Summary, places: Iterable[Place]) -> str:
    """Return the number of splits of some places: one number, or the least and the most."""
    numbers = sorted({summary.repeats(place) for place in places})
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def emphasised(method: str) -> str:
    """Return a method's name, the recommended one in bold."""
    return f"**{method}**" if method == FOREST else method


def percent(value: float) -> str:
    """Return a share in percent, nothing for NaN."""
    return figure(100 * value, ".1f")


def figure(value: float, form: str) -> str:
    """Return a figure, nothing for NaN."""
    return "" if math.isnan(value) else format(value, form)
