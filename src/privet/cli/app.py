"""The registry of verbs. It imports nothing heavy, so that ``privet --help`` stays quick."""

import warnings

from privet.cli.support import output
from privet.cli.support.program import Panels, group, make_program
from privet.cli.verbs import (
    audit,
    collect,
    combine,
    demo,
    evaluate,
    export,
    fit,
    ledger,
    papers,
    party,
    party_sum,
    perturb,
    plan,
    predict,
    reconstruct,
    rehearse,
    report,
    rules,
    schema,
    schema_review,
    score,
    serve,
    sign,
    update,
)
from privet.lazy import import_later

# The panels of `privet --help`, and their verbs in the order in which one needs them.
PANELS: Panels = {
    "Begin": [
        demo.demo,
        group(schema, schema.init, schema_review.review, schema.check),
    ],
    "Nobody trusted": [
        perturb.perturb,
        group(
            collect,
            collect.init, collect.links, collect.run, collect.offline, collect.add, collect.close, collect.train,
            collect.export, collect.backup, collect.restore,
        ),
        reconstruct.reconstruct,
    ],
    "Train": [
        rehearse.rehearse,
        plan.plan,
        group(ledger, ledger.init, ledger.show, ledger.verify, ledger.add),
        fit.fit,
        update.update,
        evaluate.evaluate,
        group(serve, serve.init, serve.analyst, serve.issuer, serve.revoke, serve.run, serve.spending,
              serve.backup, serve.restore),
    ],
    "Several parties": [
        group(
            party,
            party.structure, party.check, party.keygen, party.roster, party.release, party.verify,
            party_sum.sum_, party_sum.open_,
        ),
        combine.combine,
    ],
    "Use a model": [
        predict.predict,
        predict.explain,
        rules.rules,
        score.score,
        report.report,
        sign.sign,
        sign.verify,
        export.export,
    ],
    "What stands behind it": [
        audit.audit,
        group(papers, papers.list_, papers.run),
    ],
}  # fmt: skip
app = make_program(PANELS)


def main() -> None:
    """Run the command line and exit."""
    # scikit-learn imports both with its base class, which takes most of a second; hardly a verb uses them.
    import_later("pandas", "scipy.stats")
    # A warning is a sentence for the user; its place in the code is not.
    warnings.showwarning = lambda message, *_, **__: output.say(str(message))
    app()
