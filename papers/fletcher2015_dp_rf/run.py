"""The paper, ready to be run."""

from papers.fletcher2015_dp_rf.accuracy import ACCURACY, TABLES
from papers.fletcher2015_dp_rf.claims import claims
from papers.fletcher2015_dp_rf.figure import draw
from papers.paper import Paper

PAPER = Paper(
    "fletcher2015-dp-rf",
    "Random forests tuned by signal to noise, against Private-RDT",
    (ACCURACY,),
    claims,
    draw,
    tables=tuple(TABLES),
)
