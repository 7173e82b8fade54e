"""The options of ``privet perturb``, declared apart from the verb: there are many."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from privet.cli.support.channel_request import SHAPE, Noise

HOW, STRENGTH, WHICH, WHOSE = "How values are disturbed", "How strongly", "Which fields", "Whose answers they are"
OUTPUT = "Output"

Rows: TypeAlias = Annotated[Path | None, typer.Argument(metavar="ROWS", help="Clear rows: .csv, .csv.gz or .parquet.")]
SchemaFile: TypeAlias = Annotated[
    Path | None, typer.Option("--schema", metavar="FILE", help="What is public about the table.", rich_help_panel=HOW)
]
NoiseKind: TypeAlias = Annotated[
    Noise | None, typer.Option("--noise", help="What happens to a field.", rich_help_panel=HOW)
]
ChannelFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--channel", metavar="FILE", help="Instead: a published one that says it all.", rich_help_panel=HOW),
]
Privacy: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--privacy", metavar="PERCENT", help="An interval about the answer, in percent of the range; no epsilon.",
        rich_help_panel=STRENGTH,
    ),
]  # fmt: skip
Confidence: TypeAlias = Annotated[
    float,
    typer.Option("--confidence", metavar="PERCENT", help="How surely it holds the value.", rich_help_panel=STRENGTH),
]
Scale: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--scale", help="Of the noise: its half width, standard deviation, or Laplace's b.", rich_help_panel=STRENGTH
    ),
]
Epsilon: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--epsilon", help="The local epsilon, a sum over fields: laplace of all numbers, randomized-response of all "
        "fields that it disturbs.",
        rich_help_panel=STRENGTH,
    ),
]  # fmt: skip
Keep: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--keep", metavar="CHANCE", help="Of the true answer, where answers are random.", rich_help_panel=STRENGTH
    ),
]
CategoriesEpsilon: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--categories-epsilon", help="Beside noise on numbers: random answers to categories, at this local epsilon.",
        rich_help_panel=STRENGTH,
    ),
]  # fmt: skip
Theta: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--theta", metavar="CHANCE", help="record-complement: that a record is not flipped.", rich_help_panel=STRENGTH
    ),
]
Bins: TypeAlias = Annotated[
    int | None,
    typer.Option("--bins", min=1, help="Into how many intervals a number's range is cut.", rich_help_panel=STRENGTH),
]
Ask: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--ask", min=1, help="field-sampling: how many questions a person is asked; by default one.",
        rich_help_panel=WHICH,
    ),
]  # fmt: skip
Pairs: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--pair", metavar="NAME,NAME", rich_help_panel=WHICH,
        help="field-sampling: ask for these two together; repeat for more. By default epsilon says which.",
    ),
]  # fmt: skip
FieldEpsilons: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--field-epsilon", metavar="NAME=NUMBER", help="field-sampling: hide this one more strongly; repeat for more.",
        rich_help_panel=STRENGTH,
    ),
]  # fmt: skip
Wave: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--wave", metavar="NAME", help="field-sampling: people are asked anew in every wave, and pay for each.",
        rich_help_panel=WHOSE,
    ),
]  # fmt: skip
Columns: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--column", metavar="NAME", help="Disturb only this one; repeat for more.", rich_help_panel=WHICH),
]
Clear: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--clear", metavar="NAME", help="Give this one as it is; repeat for more.", rich_help_panel=WHICH),
]
MaxEpsilon: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--max-epsilon", metavar="NUMBER",
        help="Refuse a channel that costs more, or gives a field as it is that no --clear names.",
        rich_help_panel=STRENGTH,
    ),
]  # fmt: skip
Label: TypeAlias = Annotated[bool, typer.Option("--label", help="Disturb the label too.", rich_help_panel=WHICH)]
CoversMissing: TypeAlias = Annotated[
    bool, typer.Option("--covers-missing", help="Random answers hide missing values too.", rich_help_panel=WHICH)
]
Frequencies: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--frequencies", metavar="FILE", help="record-complement: how frequent values are known to be, as JSON: "
        f"{SHAPE}. Without it, all values are taken to be equally frequent.",
        rich_help_panel=HOW,
    ),
]  # fmt: skip
InferFrequencies: TypeAlias = Annotated[
    bool, typer.Option("--infer-frequencies", help="Read that from the rows: a recorded leak.", rich_help_panel=HOW)
]
Person: TypeAlias = Annotated[
    str | None,
    typer.Option("--id", metavar="COLUMN", help="Tells people apart; left out of the answers.", rich_help_panel=WHOSE),
]
KeepId: TypeAlias = Annotated[bool, typer.Option("--keep-id", help="Leave that column in.", rich_help_panel=WHOSE)]
SecretFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--secret", metavar="FILE", help="Fixes the answers; made if it is not there.", rich_help_panel=WHOSE),
]
Answers: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", help="The answers; by default ROWS.disturbed.csv.")
]
ChannelOutput: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--channel-output", metavar="FILE", help="The channel; by default beside the answers.", rich_help_panel=OUTPUT
    ),
]
Explain: TypeAlias = Annotated[
    bool, typer.Option("--explain", help="Say how private it is, and write nothing.", rich_help_panel=OUTPUT)
]
