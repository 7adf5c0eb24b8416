"""Checkpoint averaging (Section 6.1): the mean of a run's last checkpoints as a model folder."""

from pathlib import Path

import torch

from attendo.checkpoint.run_checkpoints import Checkpoints
from attendo.checkpoint.weights import differences, mean_weights, named_weights
from attendo.errors import ModelError
from attendo.output_folders import Origin, check_replaceable, made_folder
from attendo.text.prepared import open_prepared
from attendo.workflow.runs.model_folder import write_model
from attendo.workflow.runs.run_folder import origin, resume_run
from attendo.workflow.runs.run_model import build_model


def average(run: Path, last: int, output: Path, *, force: bool = False) -> list[int]:
    """Averages a run's last regular checkpoints.

    Args:
        run: the run folder.
        last: number of checkpoints; 5 for the paper's base models, 20 for its big ones.
        output: the model folder to write.
        force: whether to replace any content of `output`.

    Returns:
        The averaged steps, in ascending order.

    Raises:
        ModelError: the folder is not a run; it has fewer checkpoints, damaged ones or those of another model; or
            `output` contains something else (`output_folders`).
        DataError: the run's prepared data, which contains its vocabulary, is missing.
    """
    origin_of_model = Origin(command="average", source=run, options={"last": last})
    check_replaceable(output, origin_of_model, force=force)
    recipe, prepared_folder = resume_run(run, [])
    checkpoints = Checkpoints(run / "checkpoints", keep=recipe.training.average_last)
    steps = checkpoints.steps(regular_only=True)
    if not 1 <= last <= len(steps):
        available = f"{len(steps)} regular checkpoints" + (f"; take --last {len(steps)} or fewer" if steps else "")
        raise ModelError(
            f"{run}: --last {last} is too many: there are {available}; a larger training.average_last keeps more"
        )
    prepared = open_prepared(prepared_folder)
    chosen = steps[-last:]
    weights = mean_weights(checkpoints.last_weights(last))
    with torch.device("meta"):
        model = build_model(recipe, prepared)
    if differ := differences(weights, named_weights(model)):
        raise ModelError(f"{checkpoints.folder}: not of this run's model: {differ[0]} in recipe.toml's; remove them")
    facts = {"steps": chosen[-1], "averaged_steps": chosen, **origin(run)}
    with made_folder(output, origin_of_model, force=force) as draft:
        write_model(draft, recipe, prepared, weights, facts)
    return chosen
