"""How a model is trained: the recipe's `training` section, with Section 5's base model as its defaults."""

from dataclasses import dataclass, field
from typing import Literal

from attendo.text.augmentation import AugmentationConfig

_MOST = 10**12
_COUNTS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("max_steps", "warmup_steps", "checkpoint_steps", "eval_steps", "patience", "log_steps"), 1, _MOST),
    (("eval_sentences",), 1, _MOST),
    (("average_last",), 1, 10_000),
    (("max_tokens", "max_tokens_at_once"), 1, 10**9),
    (("threads",), 1, 4096),
    (("cooldown_steps", "max_rollbacks"), 0, _MOST),
    (("seed",), 0, 2**63 - 1),
)
"""Keys with the least and the most that they take; the most keeps arithmetic within 64 bits."""
_ABOVE_ZERO = {
    "max_minutes": float(_MOST),
    "checkpoint_minutes": float(_MOST),
    "learning_rate_factor": 1e6,
    "peak_learning_rate": 100.0,
    "adam_epsilon": 1.0,
    "max_gradient_norm": 1e12,
    "max_loss_rise": 1e6,
}
"""Keys that take a number above 0, with the largest."""


@dataclass(frozen=True, kw_only=True)
class TrainingConfig:
    """The training regime; defaults are the paper's.

    Raises:
        ValueError: a value that cannot be meant, with the way out.
    """

    max_steps: int = 100_000
    """Updates of the weights; the big model has 300,000 (Section 5.2)."""
    max_minutes: float | None = None
    """Training also ends after so many minutes, all sittings together; None for no limit."""
    max_tokens: int = 25_000
    """Source tokens, and target tokens, of one update, padding counted (Section 5.1); of all processes together, where
    there are several."""
    max_tokens_at_once: int | None = None
    """The batch, or a process' share of it, passes through the model in pieces of so many tokens, their gradients added
    up before the update, so that a large batch fits a small machine; None for all at once."""
    learning_rate_factor: float = 1.0
    """Multiplies the paper's learning rate, d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5) (Equation 3)."""
    peak_learning_rate: float | None = None
    """In place of the factor: the highest learning rate, which the end of the warm-up has. Fine-tuning wants 5e-5 to
    5e-4, where the paper's base model has 7e-4 and ends its training with 1.4e-4."""
    warmup_steps: int = 4000
    """Steps of rising learning rate (Section 5.3)."""
    cooldown_steps: int = 0
    """The learning rate falls in a straight line to 0 over the last so many of `max_steps`; the paper has none."""
    adam_beta1: float = 0.9
    """Decay of Adam's mean of gradients (Section 5.3)."""
    adam_beta2: float = 0.98
    """Decay of Adam's mean of squared gradients."""
    adam_epsilon: float = 1e-9
    """Keeps Adam's division finite."""
    weight_decay: float = 0.0
    """Decoupled decay of weight matrices (AdamW); the paper has none."""
    max_gradient_norm: float | None = None
    """Longer gradients are scaled to this length; the paper has no such limit."""
    max_loss_rise: float | None = 4.0
    """A loss without smoothing so many nats a token above what was usual (more for a batch smaller than usual) is a
    spike. Like one that is no number, it takes the run back to the last checkpoint from before, without the batches
    that may have done it, which `skipped.jsonl` in the run folder names (docs/surviving.md); None for no limit."""
    max_rollbacks: int = 3
    """The run ends when training diverges once more after so many times of going back without getting past it."""
    label_smoothing: float = 0.1
    """eps_ls: the share of probability spread over the vocabulary (Section 5.4)."""
    checkpoint_steps: int | None = None
    """A checkpoint every so many steps; None for by time alone."""
    checkpoint_minutes: float | None = 10.0
    """A checkpoint every so many minutes (Section 6.1); None, or with `checkpoint_steps` set, for by steps alone."""
    average_last: int = 5
    """The model is the mean of the last so many checkpoints; 20 for the big model (Section 6.1)."""
    eval_steps: int | None = 1000
    """The averaged model is validated every so many steps, behind a checkpoint, and the best one kept; None for only at
    the end."""
    drafter: Literal["with-model", "alone"] = "with-model"
    """Of a model with a drafter (`model.draft_tokens`): both learn, and the translations change a little; or the
    drafter alone, and they stay as they are. Together more proposals are right."""
    eval_bleu: bool = True
    """Validation translates and counts BLEU, or, of a parser, parses greedily and counts F1, and that decides which
    model is best; otherwise perplexity does."""
    eval_sentences: int | None = None
    """Validation translates or parses no more than so many sentences, spread evenly over its set; None for all, of a
    parser for 1,000. The perplexity is that of all."""
    patience: int | None = None
    """Ends training after so many validations in a row without a better one; None for never."""
    log_steps: int = 50
    """A line of metrics every so many steps."""
    tensorboard: bool = False
    """Writes the metrics for TensorBoard too, into the run's folder `tensorboard/` (needs the extra `tensorboard`)."""
    dtype: Literal["float32", "bfloat16"] = "float32"
    """The numbers in products; the weights and Adam's state are float32 in either case."""
    seed: int = 1
    """Of the initial weights, the order of batches and dropout."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Where to train; `auto` takes a GPU where there is one."""
    threads: int | None = None
    """Processor threads of each process; None for as many as it may use, by its affinity and its container's quota."""
    deterministic: bool = False
    """On a GPU: takes only operations that give the same bits each time, so that a resumed run is the uninterrupted one
    to the bit, at some cost in time. A processor does so in any case."""
    sharding: Literal["none", "full"] = "none"
    """What torchrun's processes hold of the model (docs/scaling.md): `none` for a copy each (DDP), `full` for a share
    each of weights, gradients and Adam's state, where a model outgrows a card (FSDP2). One process holds all of it."""
    init_from: str | None = None
    """A model to fine-tune: a model folder, a run or a shipped model's name. Training starts from its weights and keeps
    its vocabulary; what `model`, `search` and the languages leave out is as it has them."""
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    """How pairs are changed each time they are met, for a model that bears with rough input; the paper has none."""

    def __post_init__(self) -> None:
        """Refuses values that cannot be meant, all at once."""
        problems = []
        for keys, least, most in _COUNTS:
            for key in keys:
                value = getattr(self, key)
                if value is not None and value < least:
                    problems.append(f"{key} = {value} is below {least}; take {least} or more")
                elif value is not None and value > most:
                    problems.append(f"{key} = {value} is above {most}; take {most} or less")
        for key, highest in _ABOVE_ZERO.items():
            value = getattr(self, key)
            if value is not None and not 0 < value <= highest:
                span = f"above 0 up to {highest:g}" if value > 0 else "above 0"
                problems.append(f"{key} = {value} is not {span}; take a number {span}, or leave it out")
        if not 0 <= self.weight_decay <= 1:
            problems.append(f"weight_decay = {self.weight_decay} is outside 0 to 1; take a number from 0 to 1")
        for key in ("adam_beta1", "adam_beta2", "label_smoothing"):
            if not 0 <= getattr(self, key) < 1:
                problems.append(f"{key} = {getattr(self, key)} is outside 0 to 1; take a number from 0 up to below 1")
        if self.peak_learning_rate is not None and self.learning_rate_factor != 1.0:
            problems.append("peak_learning_rate and learning_rate_factor say the same in two ways; leave one out")
        if self.cooldown_steps > self.max_steps:
            problems.append(
                f"cooldown_steps = {self.cooldown_steps} is more than max_steps; take {self.max_steps} or less"
            )
        if self.checkpoint_steps is None and self.checkpoint_minutes is None:
            problems.append("neither checkpoint_steps nor checkpoint_minutes is set; take checkpoint_minutes = 10.0")
        if problems:
            raise ValueError("; ".join(problems))
