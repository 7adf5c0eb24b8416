"""Settings of training: the recipe's section `training`, with Section 5's base model as its defaults."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from attendo.model.config import ModelConfig
from attendo.text.augmentation import AugmentationConfig

_MOST = 10**12
_COUNTS: tuple[tuple[tuple[str, ...], int, int], ...] = (
    (("max_steps", "warmup_steps", "checkpoint_steps", "eval_steps", "patience", "log_steps"), 1, _MOST),
    (("eval_sentences",), 1, _MOST),
    (("average_last",), 1, 10_000),
    (("max_tokens", "max_tokens_at_once"), 1, 10**9),
    (("threads", "workers"), 1, 4096),
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
    """Maximum number of updates; the paper's big model was trained for 300,000 (Section 5.2)."""
    max_minutes: float | None = None
    """Maximum training time in minutes, over all sessions of the run; None for no limit."""
    max_tokens: int = 25_000
    """Maximum number of source tokens, and of target tokens, in one update, padding included (Section 5.1); the total
    over all processes."""
    max_tokens_at_once: int | None = None
    """Split each update's batch (or a process' share of it) into pieces of at most this many tokens and accumulate
    their gradients, so that a large batch fits into little memory; None for no split."""
    learning_rate_factor: float = 1.0
    """Factor on the paper's learning rate, d_model^-0.5 * min(step^-0.5, step * warmup_steps^-1.5) (Equation 3)."""
    peak_learning_rate: float | None = None
    """The learning rate at the end of the warm-up, in place of `learning_rate_factor`. For fine-tuning use 5e-5 to
    5e-4; the paper's base model peaks at 7e-4 and ends at 1.4e-4."""
    warmup_steps: int = 4000
    """Number of updates over which the learning rate rises (Section 5.3)."""
    cooldown_steps: int = 0
    """Decay the learning rate linearly to 0 over the last `cooldown_steps` of `max_steps`; 0, as in the paper, disables
    it."""
    adam_beta1: float = 0.9
    """Decay rate of Adam's first moment (Section 5.3)."""
    adam_beta2: float = 0.98
    """Decay rate of Adam's second moment (Section 5.3)."""
    adam_epsilon: float = 1e-9
    """Adam's epsilon, which avoids division by zero (Section 5.3)."""
    weight_decay: float = 0.0
    """Decoupled weight decay of matrices (AdamW); the paper uses none."""
    max_gradient_norm: float | None = None
    """Clip the gradient's norm to this value; the paper does not clip."""
    max_loss_rise: float | None = 4.0
    """Treat an unsmoothed loss this many nats per token above its recent mean as a spike (the limit is wider for
    smaller batches). After a spike, or a loss that is not finite, training rolls back to an earlier checkpoint and
    leaves out the batches that may have caused it; `skipped.jsonl` in the run folder lists them (docs/surviving.md).
    None for no limit."""
    max_rollbacks: int = 3
    """Maximum number of rollbacks in a row at the same place; after one more, training stops with an error."""
    label_smoothing: float = 0.1
    """Label smoothing epsilon_ls: the probability mass spread over the vocabulary (Section 5.4)."""
    r_drop: float = 0.0
    """Weight alpha of R-Drop (Liang et al., 2021): each batch is computed twice, and where dropout makes the
    probabilities differ, their divergence is a part of the loss. Against overfitting of small corpora, for twice the
    time; 5 is usual, and 0, as in the paper, disables it."""
    checkpoint_steps: int | None = None
    """Save a checkpoint every this many updates; None to save by time only."""
    checkpoint_minutes: float | None = 10.0
    """Save a checkpoint every this many minutes (Section 6.1); ignored if `checkpoint_steps` is set."""
    average_last: int = 5
    """Number of most recent checkpoints averaged into the model (Section 6.1; the paper averages 20 for the big
    model)."""
    eval_steps: int | None = 1000
    """Validate the averaged model every this many updates, after saving a checkpoint, and keep the best one; None to
    validate only at the end."""
    drafter: Literal["with-model", "alone"] = "with-model"
    """For a model with a drafter (`model.draft_tokens`): `with-model` trains both, which changes the translations
    slightly and gets more proposals right; `alone` trains the drafter only and leaves the translations as they are."""
    eval_bleu: bool = True
    """Choose the best model by BLEU on translations of the validation set (for a parser, F1 of greedy parses); if
    false, by perplexity."""
    eval_sentences: int | None = None
    """Maximum number of sentences translated or parsed in a validation, spread evenly over the set; None for all (1,000
    for a parser). Perplexity always uses the whole set."""
    patience: int | None = None
    """Stop after this many validations in a row without a new best one; None to never stop early."""
    log_steps: int = 50
    """Log metrics every this many updates."""
    tensorboard: bool = False
    """Also write the metrics for TensorBoard, to `tensorboard/` in the run folder (needs the extra `tensorboard`)."""
    dtype: Literal["auto", "float32", "bfloat16"] = "float32"
    """Number type of matrix products; weights and Adam's state are always float32. `auto` uses `bfloat16` where the
    machine multiplies it faster (GPUs, AMX, AMD's AVX-512 with bfloat16), and is settled when a run begins."""
    seed: int = 1
    """Random seed for the initial weights, the order of batches and dropout."""
    device: Literal["auto", "cpu", "cuda"] = "auto"
    """Device to train on; `auto` uses a GPU if there is one."""
    threads: int | None = None
    """Processor threads per process; None for all that the CPU affinity and the container's quota allow."""
    workers: int | None = None
    """Processes that rewrite pairs for BPE-dropout and `training.augmentation`, so that a GPU need not wait for them;
    they do not change the batches. None for up to 8 on a GPU, as the cores allow, and on a CPU for a thread."""
    deterministic: bool = False
    """On a GPU, use only operations with reproducible results, so that a resumed run equals an uninterrupted one bit
    for bit, at some cost in speed. On a CPU, training is always reproducible."""
    sharding: Literal["none", "full"] = "none"
    """How torchrun's processes hold the model (docs/scaling.md): `none` keeps a full copy in each (DDP); `full` shards
    weights, gradients and Adam's state, for models that do not fit one GPU (FSDP2). A single process always holds
    everything."""
    init_from: str | None = None
    """Model to fine-tune: a model folder, a run or the name of a shipped model. Training starts from its weights and
    keeps its vocabulary, and settings of `model`, `search` and the languages that the recipe leaves out are taken from
    it."""
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    """Changes to pairs each time they occur, for a model that copes with noisy input; the paper has none."""

    def __post_init__(self) -> None:
        """Refuses invalid values, and reports all problems at once."""
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
        if not 0 <= self.r_drop <= 100:
            problems.append(f"r_drop = {self.r_drop} is outside 0 to 100; take 5, or 0 for none")
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

    def r_drop_conflicts(self, model: ModelConfig, *, distilled: bool) -> Iterator[str]:
        """Yields a message for each setting elsewhere in a recipe that `r_drop` does not go together with.

        Args:
            model: the recipe's model.
            distilled: whether a corpus is learned from another model's probabilities.
        """
        if not self.r_drop:
            return
        label = f"training.r_drop = {self.r_drop}"
        if not (model.dropout or model.attention_dropout or model.activation_dropout):
            yield f"{label} compares passes with different dropout; set model.dropout = 0.1, or leave r_drop out"
        if model.draft_tokens:
            yield f"{label} is for a model without a drafter; leave it or model.draft_tokens out"
        if distilled:
            yield f"{label} is for corpora without distilled = true; leave one of them out"
