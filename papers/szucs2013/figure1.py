"""Fig. 1: binary anonymity over theta for three pairs; and two attributes' codes with their pairs.

Run ``python -m papers.szucs2013.figure1``; the picture and the tables go to ``results/``.
"""

import csv
from pathlib import Path

import numpy as np

from privet import Coding
from privet.datasets import uci
from privet.local.anonymity import pair_anonymity

RESULTS = Path(__file__).with_name("results")
# The solid, dashed and dotted lines of the paper.
PAIRS = {(0.5, 0.5): "-", (0.8, 0.2): "--", (0.95, 0.05): ":"}
THETAS = np.linspace(0.0, 1.0, 101)
# Attributes of Adult with six and seven values.
ATTRIBUTES = ("relationship", "marital-status")


def curves() -> dict[tuple[float, float], list[float]]:
    """Return the anonymity of each pair over theta."""
    return {pair: [pair_anonymity(*pair, float(theta)) for theta in THETAS] for pair in PAIRS}


def adult_codes() -> str:
    """Return the codes of two attributes of Adult, by the frequencies in its rows."""
    data = uci("adult")
    names = [a.name for a in data.schema.attributes if a.name in ATTRIBUTES]
    schema = data.schema.with_attributes(a for a in data.schema.attributes if a.name in names)
    return Coding.from_rows(data.X[names], schema).describe()


def main() -> None:
    import matplotlib.pyplot as plt

    drawn = curves()
    figure, ax = plt.subplots(figsize=(6.5, 4.2), layout="constrained")
    for pair, line in PAIRS.items():
        ax.plot(THETAS, drawn[pair], line, color="black", label=f"{pair[0]:g} and {pair[1]:g}")
    ax.set(xlabel="theta", ylabel="binary anonymity", ylim=(0, 1.02))
    ax.legend(frameon=False, title="frequencies")
    RESULTS.mkdir(exist_ok=True)
    figure.savefig(RESULTS / "figure1.png", dpi=120)
    with (RESULTS / "figure1.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("theta", *(f"{p} and {q}" for p, q in PAIRS)))
        writer.writerows(
            zip((f"{t:.2f}" for t in THETAS), *([f"{v:.4f}" for v in drawn[p]] for p in PAIRS), strict=True)
        )
    print("theta  " + "  ".join(f"{p:g}/{q:g}".rjust(9) for p, q in PAIRS))
    for i in range(50, 101, 10):
        print(f"{THETAS[i]:5.2f}  " + "  ".join(f"{drawn[pair][i]:9.4f}" for pair in PAIRS))
    codes = adult_codes()
    (RESULTS / "codes.txt").write_text(codes + "\n", encoding="utf-8")
    print("\n" + codes)


if __name__ == "__main__":
    main()
