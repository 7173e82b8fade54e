"""What an attacker gets, over epsilon.

Left, membership inference: the attacker guesses whether a row was among those fitted, from how sure the model is of its
label. A forest without privacy, whose trees have each seen every row, down to leaves of one, gives its rows away: given
a member and another row, the attacker picks the member nine times of ten (AUC 0.9). On the recommended forest the
attack does no better than guessing (0.5). That forest is right about 78 to 86 % of other rows, the one without privacy
about 89 %. The dashed line is what the guarantee allows an attacker who knows more than this one.

Right, a forest of one tree is fitted to a table with somebody's row and without it, a thousand times each. The bound
that the fits show stays below the diagonal. For a small epsilon it is a third below, since a small effect takes many
fits to show. The crosses are a forest whose noise was halved by mistake: they lie above, and so disprove the claim.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier

import privet
from privet import Categorical, PrivateForestClassifier, PrivateRDTClassifier, Schema
from privet.attack.neighbours import worst_cases
from privet.datasets import agrawal

EPSILONS = (0.5, 1.0, 2.0, 4.0)
AUDITED = EPSILONS[:3]
SMALL = Schema([Categorical("a", [5, 9]), Categorical("b", ["u", "v"])], classes=["no", "yes"], rows=40)


def main(picture: Path, n_rows: int = 2_000, n_fits: int = 1_000) -> None:
    """Draw two attacks over what the models cost."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
    draw_membership(left, n_rows)
    draw_audits(right, max(n_fits, 50))
    for ax, epsilons in ((left, EPSILONS), (right, AUDITED)):
        ax.set(xscale="log", xlabel="epsilon that is claimed")
        ax.set_xticks(epsilons, [f"{epsilon:g}" for epsilon in epsilons])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    figure.savefig(picture, dpi=100)
    plt.close(figure)
    print(f"picture: {picture}")


def draw_membership(ax: plt.Axes, n_rows: int) -> None:
    """Draw how well rows of the fit are told from others."""
    fitted_to, others = (people(n_rows, random_state=seed) for seed in (0, 1))
    # What the schema declares must be true of the rows: a forest for fewer learns nothing, and so has nothing to tell.
    schema = agrawal(n_rows).schema
    leaky = RandomForestClassifier(bootstrap=False, random_state=0).fit(*fitted_to)
    private = [PrivateForestClassifier(schema, epsilon=epsilon).fit(*fitted_to) for epsilon in EPSILONS]
    found = [privet.membership_inference(model, fitted_to, others) for model in [leaky, *private]]
    for name, model, attack in zip(["none", *EPSILONS], [leaky, *private], found, strict=True):
        print(
            f"epsilon {name}: right about {model.score(*others):.1%} of other rows, AUC of the attack {attack.auc:.2f}"
        )
    ax.plot(EPSILONS, [(1 + attack.most) / 2 for attack in found[1:]], color="0.5", linestyle="--", label="allowed")
    ax.axhline(found[0].auc, color="#D55E00", label="forest without privacy")
    ax.plot(EPSILONS, [attack.auc for attack in found[1:]], color="#0072B2", marker="o", label="recommended forest")
    ax.set(title="membership inference", ylabel="AUC of the attacker; 0.5 is guessing", ylim=(0.4, 1.02))


def people(n_rows: int, random_state: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return rows and labels, of which every fifth is a coin's: people are never told apart without error."""
    table, coins = agrawal(n_rows, function=4, random_state=random_state), np.random.default_rng(random_state)
    return table.X, np.where(coins.random(n_rows) < 0.2, coins.permutation(table.y), table.y)


def draw_audits(ax: plt.Axes, n_fits: int) -> None:
    """Draw what is shown of an epsilon beside what is claimed, of a sound forest and of one with a fault."""
    case = worst_cases(SMALL)[1:2]
    for factor, colour, marker, name in ((1, "#0072B2", "o", "Private-RDT"), (2, "#D55E00", "x", "half the noise")):
        shown = [
            privet.audit(
                PrivateRDTClassifier(SMALL, epsilon=factor * epsilon, n_trees=1, height=1), case,
                epsilon=epsilon, runs=n_fits,
            ).epsilon_shown
            for epsilon in AUDITED
        ]  # fmt: skip
        print(f"{name}: of {AUDITED} at least {', '.join(f'{epsilon:.2f}' for epsilon in shown)} was shown")
        ax.plot(AUDITED, shown, color=colour, marker=marker, label=name)
    ax.plot(AUDITED, AUDITED, color="0.5", linestyle="--", label="claimed")
    ax.set(title="audit: a row, or not", ylabel="epsilon that was shown, at least (95 %)", yscale="log")
    ticks = np.array([0.25, 0.5, 1.0, 2.0, 4.0])
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])


if __name__ == "__main__":
    main(Path("attack.png"))
