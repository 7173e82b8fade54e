"""The picture of the page: accuracy over epsilon, and what attacks show over what is stated."""

from pathlib import Path

from benchmarks.family.audits import AUDITS
from benchmarks.family.members import (
    DPDF,
    DPDF_PAPER,
    EPSILONS,
    FOREST,
    FOREST_DELTA,
    ID3,
    ID3_PAPER,
    NO_EPSILON,
    RECONSTRUCTION,
    RESPONSE_FOREST,
)
from benchmarks.family.summary import Family
from benchmarks.utility.methods import MAJORITY, RANDOM_FOREST
from benchmarks.utility.pictures import Look

# Okabe and Ito's colours; a paper's form is dotted and what trusts nobody is broken.
_LOOKS = {
    FOREST: Look("#D55E00", "o", width=2.8),
    FOREST_DELTA: Look("#E69F00", "o"),
    "Private-RDT": Look("#56B4E9", "D"),
    "DP-RF": Look("#CC79A7", "v"),
    DPDF: Look("#0072B2", "s"),
    DPDF_PAPER: Look("#0072B2", "s", ":"),
    "DiffPID3": Look("#009E73", "^"),
    ID3: Look("#000000", "P"),
    ID3_PAPER: Look("#000000", "P", ":"),
    RESPONSE_FOREST: Look("#999999", "X", "--"),
    RECONSTRUCTION: Look("#999999", "d", "--"),
}
# Where the picture puts a bound of nothing, which a logarithmic axis does not have.
_NOTHING = 0.01


def draw(family: Family, path: Path) -> None:
    """Draw both panels; members that share an attack share its line."""
    from matplotlib.figure import Figure

    picture = Figure(figsize=(12, 6.6), layout="constrained")
    left, right = picture.subplots(1, 2)
    attacked = set()
    for name, (colour, marker, line, width) in _LOOKS.items():
        means = [family.mean(name, epsilon)[0] for epsilon in EPSILONS]
        left.plot(EPSILONS, means, line, color=colour, marker=marker, linewidth=width, markersize=7, label=name)
        if AUDITS[name] not in attacked:
            shown = [max(family.shown(name, epsilon), _NOTHING) for epsilon in EPSILONS]
            right.plot(EPSILONS, shown, line, color=colour, marker=marker, linewidth=width, markersize=7)
        attacked.add(AUDITS[name])
    for name, line in ((RANDOM_FOREST, "-."), (MAJORITY, ":")):
        left.axhline(family.mean(name, NO_EPSILON)[0], color="#444444", linewidth=1.2, linestyle=line, label=name)
    right.plot(EPSILONS, EPSILONS, color="#444444", linewidth=7, alpha=0.25)
    right.text(0.03, 0.94, "above the grey band: more than is stated", fontsize=13, transform=right.transAxes)
    right.set_yscale("log")
    right.set_ylim(0.8 * _NOTHING, 10)
    right.set_yticks([_NOTHING, 0.1, 0.5, 1, 4], ["nothing", "0.1", "0.5", "1", "4"])
    left.set_ylabel("accuracy on held-out rows, %", fontsize=14)
    left.set_title(f"mean over {len(family.tables)} tables", fontsize=14)
    right.set_ylabel("epsilon that an attack shows, at least", fontsize=14)
    right.set_title("on tables made for the attack", fontsize=14)
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_xticks(EPSILONS, [f"{epsilon:g}" for epsilon in EPSILONS])
        axis.minorticks_off()
        axis.grid(alpha=0.25)
        axis.set_xlabel("epsilon stated", fontsize=13)
        axis.tick_params(labelsize=13)
    handles, names = left.get_legend_handles_labels()
    picture.legend(handles, names, loc="outside lower center", ncols=4, fontsize=12, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.savefig(path, dpi=150)
