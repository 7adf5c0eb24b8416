"""One update of the weights: forward, backward, Adam (Section 5.3)."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from attendo.model.batch import Batch, DistilledTokens
from attendo.model.transformer import Transformer
from attendo.training.config import TrainingConfig
from attendo.training.drafting import DraftedRows, drafted_rows, learns_alone, shortlist_projection
from attendo.training.passes.distillation import TeacherRows, distilled_loss
from attendo.training.passes.forward import TrainingBatch, target_rows
from attendo.training.passes.kernels import training_kernels
from attendo.training.passes.loss import TokenLoss, token_loss
from attendo.training.passes.r_drop import r_drop_loss
from attendo.training.schedule import learning_rate
from attendo.training.teacher import Teacher

_PROPOSAL = 0.5
"""Weight of a proposal compared with a token: there are several per token."""


class UpdateResult(NamedTuple):
    """Sums over an update's target tokens, as scalars on the model's device, so that nothing waits for it."""

    smoothed: Tensor
    """The loss that was minimised, in nats."""
    log_loss: Tensor
    """Negative log-likelihood without label smoothing, in nats."""
    num_tokens: int


def make_optimizer(model: Transformer, config: TrainingConfig) -> torch.optim.Optimizer:
    """Adam as in Section 5.3; with `weight_decay`, decoupled decay of the matrices."""
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    matrices = [p for p in trained if p.dim() > 1]
    vectors = [p for p in trained if p.dim() <= 1]
    groups = [{"params": matrices, "weight_decay": config.weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    betas = (config.adam_beta1, config.adam_beta2)
    return torch.optim.AdamW(groups, lr=0.0, betas=betas, eps=config.adam_epsilon, fused=True)


class Accumulate(Protocol):
    """Adds a piece's gradient, summed over processes if there are several."""

    def __call__(self, piece: TrainingBatch, num_tokens: int, *, is_last: bool) -> UpdateResult:
        """Runs a piece, on the model's device, forward and backward, its loss divided by `num_tokens`."""


def update(
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    pieces: Iterable[TrainingBatch],
    num_tokens: int,
    step: int,
    config: TrainingConfig,
    accumulate: Accumulate | None = None,
    teacher: Teacher | None = None,
) -> UpdateResult:
    """Makes one update from a batch that may be divided into pieces; the gradient is that of the whole batch.

    Args:
        model: the model, in training mode.
        optimizer: the optimiser, from `make_optimizer`.
        pieces: the batch; with several processes, this one's share. A piece of 0 tokens does not count.
        num_tokens: number of target tokens of all pieces of all processes, over which the loss is averaged.
        step: the number of this update, from 1.
        config: loss, learning rate and dtype.
        accumulate: accumulates the gradients of several processes (`training.replica`); None for a single one.
        teacher: the model whose probabilities are learned from distilled lines, for a single process; None without such
            lines. With several processes, each has it in its replica.

    Returns:
        The sums over the given pieces.
    """
    device = model.output_weight.device
    optimizer.zero_grad(set_to_none=True)
    smoothed, log_loss = torch.zeros((), device=device), torch.zeros((), device=device)
    own_tokens = 0
    coming = iter(pieces)
    piece = next(coming, None)
    while piece is not None:
        following = next(coming, None)
        if accumulate is None:
            loss = batch_loss(model, piece.to(device), config.dtype, config.label_smoothing, teacher, config.r_drop)
            (loss.smoothed / num_tokens).backward()  # type: ignore[no-untyped-call]  # torch leaves it untyped
        else:
            loss = accumulate(piece.to(device), num_tokens, is_last=following is None)
        if loss.num_tokens:
            smoothed += loss.smoothed.detach()
            log_loss += loss.log_loss
            own_tokens += loss.num_tokens
        piece = following
    if config.max_gradient_norm is not None:
        torch.nn.utils.clip_grad_norm_(model.parameters(), config.max_gradient_norm)
    for group in optimizer.param_groups:
        group["lr"] = learning_rate(step, model.config.d_model, config)
    optimizer.step()
    return UpdateResult(smoothed, log_loss, own_tokens)


def batch_loss(
    model: Transformer,
    batch: TrainingBatch,
    dtype: str,
    label_smoothing: float,
    teacher: Teacher | None = None,
    r_drop: float = 0.0,
) -> UpdateResult:
    """The loss of a batch, summed over its real target tokens; of a model with a drafter, over its proposals too.

    A distilled token's loss is the divergence from the teacher's probabilities (`training.passes.distillation`), any
    other one's the cross-entropy.

    Args:
        model: the model, in training or evaluation mode.
        batch: the batch, on the model's device.
        dtype: `float32`, or `bfloat16` for products in bfloat16 with weights and sums in float32.
        label_smoothing: eps_ls.
        teacher: the model that distilled tokens are learned from; None for a batch without such lines.
        r_drop: alpha of `training.passes.r_drop`, for which the batch is computed twice; 0 for the loss of one pass.
            Neither for distilled tokens nor for a model with a drafter.
    """
    products = {"float32": torch.float32, "bfloat16": torch.bfloat16}[dtype]
    if model.drafter is not None:
        assert isinstance(batch, Batch)
        drafted = _drafted_loss(model, drafted_rows(model, batch, products), label_smoothing)
        return drafted if batch.num_tokens else drafted._replace(num_tokens=0)
    rows, targets = target_rows(model, batch, products)
    kernels = training_kernels(model.config, rows.device)
    if r_drop:
        assert batch.distilled is None, "a recipe has r_drop or distilled corpora"
        passes = (rows, target_rows(model, batch, products)[0])
        loss = r_drop_loss(passes, model.output_weight, model.output_bias, targets, label_smoothing, r_drop, kernels)
    elif batch.distilled is None:
        loss = token_loss(rows, model.output_weight, model.output_bias, targets, label_smoothing, kernels)
    else:
        assert teacher is not None, "a recipe with distilled corpora names the teacher"
        taught = teacher.rows(batch, products)
        loss = _loss_of_both(model, rows, targets, batch.distilled, taught, label_smoothing)
    # Masked positions are fewer than tokens; an idle piece has a position and no token (`training.loader.idle_piece`).
    return UpdateResult(loss.smoothed, loss.log_loss, len(targets) if batch.num_tokens else 0)


def _loss_of_both(
    model: Transformer,
    rows: Tensor,
    targets: Tensor,
    tokens: DistilledTokens,
    taught: TeacherRows,
    label_smoothing: float,
) -> TokenLoss:
    """Adds the loss of the distilled tokens, of which there is at least one, and that of the others, if any."""
    kernels = training_kernels(model.config, rows.device)
    weight, bias, chosen, others = model.output_weight, model.output_bias, tokens.distilled, tokens.others
    loss = distilled_loss(rows.index_select(0, chosen), weight, bias, targets[chosen], taught.at(chosen), kernels)
    if not len(others):
        return loss
    own = token_loss(rows.index_select(0, others), weight, bias, targets[others], label_smoothing, kernels)
    return TokenLoss(loss.smoothed + own.smoothed, loss.log_loss + own.log_loss)


def _drafted_loss(model: Transformer, rows: DraftedRows, label_smoothing: float) -> UpdateResult:
    """Combines the losses of proposals, each with half weight, and of tokens, unless only the drafter learns."""
    kernels = training_kernels(model.config, rows.drafted.device)
    drafted = token_loss(rows.drafted, *shortlist_projection(model), rows.places, label_smoothing, kernels)
    if learns_alone(model):
        return UpdateResult(drafted.smoothed, drafted.log_loss, len(rows.places))
    own = token_loss(rows.hidden, model.output_weight, model.output_bias, rows.ids, label_smoothing, kernels)
    smoothed = own.smoothed + _PROPOSAL * drafted.smoothed
    return UpdateResult(smoothed, own.log_loss + drafted.log_loss, len(rows.ids) + len(rows.places))
