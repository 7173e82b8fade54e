"""Several parties: release files beside a secure sum.

Everyone keeps their rows. With release files each party adds all of the noise itself, needs nobody, and the noises
add up. In a secure sum each adds a share, only the sum is opened, and it has about the noise of one curator; that
asks for all parties at the same time, and for all but one of them to be honest. The rows are the same throughout,
dealt out among more and more parties.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt

from privet import HorizontalForest, Party, PrivateRDTClassifier
from privet.datasets import agrawal
from privet.partitioned import PrivateKey, Roster, SecureSumForest, Structure, SumParty, Terms

WAYS = {"release files": ("#D55E00", "s"), "secure sum": ("#0072B2", "o"), "one curator": ("0.4", "")}


def main(picture: Path, n_rows: int = 4_000, parties: tuple[int, ...] = (2, 4, 8, 16)) -> None:
    """Draw the noise and the accuracy of both ways over the number of parties."""
    people = agrawal(n_rows, function=4, balanced=True, random_state=0)
    others = agrawal(5_000, function=4, balanced=True, random_state=1)
    structure = Structure.draw(people.schema, epsilon=0.5, n_rows=n_rows, random_state=0)
    curator = PrivateRDTClassifier(people.schema, epsilon=0.5, random_state=0).fit(people.X, people.y)
    models = {"release files": [], "secure sum": [], "one curator": [curator] * len(parties)}
    for n_parties in parties:
        with tempfile.TemporaryDirectory() as folder:
            released, summed = trained(structure, people, n_parties, Path(folder))
        models["release files"].append(released)
        models["secure sum"].append(summed)

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for way, (colour, marker) in WAYS.items():
        style = {"color": colour, "marker": marker, "linestyle": "-" if marker else "--", "label": way}
        left.plot(parties, [model.noise_std_ for model in models[way]], **style)
        right.plot(parties, [100 * model.score(others.X, others.y) for model in models[way]], **style)
    left.set(ylabel="noise of a leaf's count, in rows", ylim=(0, None))
    right.set(ylabel="accuracy on other people, in %")
    for ax in (left, right):
        ax.set(xscale="log", xlabel="parties")
        ax.set_xticks(parties, [str(n) for n in parties])
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    left.legend(frameon=False)
    figure.savefig(picture, dpi=90)
    plt.close(figure)


def trained(structure, people, n_parties, folder):
    """Return the forest of release files, and that of a secure sum, of so many parties."""
    members = [Party(PrivateKey.generate(f"party-{i}"), store=folder / str(i)) for i in range(n_parties)]
    roster = Roster([member.public for member in members])
    rows = [(people.X[i::n_parties], people.y[i::n_parties]) for i in range(n_parties)]
    releases = [member.release(structure, X, y) for member, (X, y) in zip(members, rows, strict=True)]
    return HorizontalForest.combine(structure, roster, releases), summed(Terms(structure, roster), members, rows)


def summed(terms, members, rows):
    """Return the forest of a secure sum; a folder or a server would carry these messages."""
    sides = [SumParty(member, terms) for member in members]
    for side, (X, y) in zip(sides, rows, strict=True):
        side.prepare(X, y)
    keys = {side.name: side.key_message(1) for side in sides}
    masked = {side.name: side.masked_message(1, keys) for side in sides}
    return SecureSumForest.open(terms, 1, keys, masked)


if __name__ == "__main__":
    main(Path("parties.png"))
