"""The experiments of `attendo reproduce`, by their names in the command."""

from collections.abc import Mapping

from attendo.paper.attention_functions.study import ATTENTION_FUNCTIONS
from attendo.paper.drawn.figure1 import FIGURE1
from attendo.paper.drawn.figure2 import FIGURE2
from attendo.paper.experiment import Experiment
from attendo.paper.heads.figure3 import FIGURE3
from attendo.paper.heads.figure4 import FIGURE4
from attendo.paper.heads.figure5 import FIGURE5
from attendo.paper.label_smoothing.study import LABEL_SMOOTHING
from attendo.paper.length_extrapolation.study import LENGTH_EXTRAPOLATION
from attendo.paper.schedule.study import SCHEDULE
from attendo.paper.search_settings.study import SEARCH_SETTINGS
from attendo.paper.table1.study import TABLE1
from attendo.paper.table2.study import TABLE2
from attendo.paper.table3.study import TABLE3
from attendo.paper.table4.study import TABLE4

EXPERIMENTS: Mapping[str, Experiment] = {
    "table1": TABLE1,
    "table2": TABLE2,
    "table3": TABLE3,
    "table4": TABLE4,
    "figure1": FIGURE1,
    "figure2": FIGURE2,
    "figure3": FIGURE3,
    "figure4": FIGURE4,
    "figure5": FIGURE5,
    "attention-functions": ATTENTION_FUNCTIONS,
    "label-smoothing": LABEL_SMOOTHING,
    "search-settings": SEARCH_SETTINGS,
    "length-extrapolation": LENGTH_EXTRAPOLATION,
    "schedule": SCHEDULE,
}
