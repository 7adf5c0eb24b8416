"""What a run folder has come to, read by other means than attendo's: hashlib, JSON and the bytes of files."""

import hashlib
import json
import re
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

TIMES = {"elapsed_s", "checkpoint_s", "target_tokens_per_s"}
"""What no two runs have in common."""
DRAFT = re.compile(r"\.(tmp|old)-(?:\d+-)?(.*)")


@dataclass(frozen=True, kw_only=True)
class FinalState:
    """All that has to be equal in two runs of a recipe, however often one of them was ended."""

    checkpoints: dict[str, str]
    """SHA-256 of each file but the states', by its path; of shards, which have tensors in any order, each tensor's."""
    positions: dict[str, dict[str, Any]]
    """Where each checkpoint stands, without times."""
    metrics: list[dict[str, Any]]
    """The records, without times."""
    model: dict[str, str]
    """SHA-256 of each file."""
    texts: dict[str, str]
    """The other files that say how it went."""
    names: frozenset[str]
    """What lies in the run folder and in its checkpoints', hidden files included."""

    def end(self) -> "FinalState":
        """Without the checkpoints before the last one: when those are made may depend on the clock."""
        last = max(self.positions)
        return replace(
            self,
            checkpoints={key: value for key, value in self.checkpoints.items() if last in key},
            positions={last: self.positions[last]},
            names=frozenset(name for name in self.names if not name.startswith("checkpoints/") or last in name),
        )

    def differences(self, other: "FinalState") -> list[str]:
        """What is not as in the other, a line each; empty where both are the same."""
        return [
            f"{part}: {key}: {mine.get(key)} is not {theirs.get(key)}"
            for part, mine, theirs in (
                ("checkpoints", self.checkpoints, other.checkpoints),
                ("positions", self.positions, other.positions),
                ("metrics", dict(enumerate(self.metrics)), dict(enumerate(other.metrics))),
                ("model", self.model, other.model),
                ("texts", self.texts, other.texts),
                ("names", dict.fromkeys(self.names, True), dict.fromkeys(other.names, True)),
            )
            for key in sorted({*mine, *theirs}, key=str)
            if mine.get(key) != theirs.get(key)
        ]


def final_state(run: Path) -> FinalState:
    """Reads a run folder that is complete."""
    checkpoints = run / "checkpoints"
    files = [path for path in sorted(checkpoints.rglob("*")) if path.is_file()]
    timed = ("state.json", "checksums.json")  # the latter has the former's checksum
    lines = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return FinalState(
        checkpoints={
            str(path.relative_to(run)): _sha256(path)
            for path in files
            if path.name not in timed and not path.name.startswith("shard-")
        }
        | {
            f"{folder.name} {tensor}": "; ".join(sorted(parts))
            for folder in checkpoints.iterdir()
            for tensor, parts in _sharded_tensors(folder).items()
        },
        positions={
            path.parent.name: _timeless(json.loads(path.read_bytes())["position"])
            for path in files
            if path.name == "state.json"
        },
        metrics=[_timeless(json.loads(line)) for line in lines],
        model={path.name: _sha256(path) for path in sorted((run / "model").iterdir())},
        texts={
            name: (run / name).read_text(encoding="utf-8")
            for name in ("recipe.toml", "skipped.jsonl")
            if (run / name).exists()
        },
        names=frozenset(str(path.relative_to(run)) for path in (*run.iterdir(), *checkpoints.rglob("*"))),
    )


@dataclass(frozen=True, kw_only=True)
class Whole:
    """What of a run folder is whole, as whoever looks behind a kill would find."""

    checkpoints: frozenset[str]
    """Those that can be gone on from."""
    has_model: bool
    problems: tuple[str, ...]
    """What no reader may ever meet: a folder under its own name that is torn."""

    def lost_since(self, before: "Whole") -> list[str]:
        """What was there before and has nothing in its place; and what is torn."""
        lost = list(self.problems)
        if before.checkpoints and not self.checkpoints:
            lost.append(f"no checkpoint is whole; there was {', '.join(sorted(before.checkpoints))}")
        if before.checkpoints and max(self.checkpoints, default="") < max(before.checkpoints):
            lost.append(
                f"the newest checkpoint was {max(before.checkpoints)}, it is {max(self.checkpoints, default='')}"
            )
        if before.has_model and not self.has_model:
            lost.append("the model was there and is not")
        return lost


NOTHING = Whole(checkpoints=frozenset(), has_model=False, problems=())


def what_is_whole(run: Path) -> Whole:
    """Looks at a run folder that nothing is running in."""
    folders = [path for path in (run / "checkpoints").glob("*") if not DRAFT.fullmatch(path.name)]
    torn = [problem for folder in (*folders, run / "model") if folder.exists() for problem in torn_files(folder)]
    torn += [
        f"{left}: put aside, and nothing is in its place"
        for left in (*run.glob(".old-*"), *(run / "checkpoints").glob(".old-*"))
        if (match := DRAFT.fullmatch(left.name)) and not left.with_name(match[2]).exists()
    ]
    trained = (
        path.name for path in folders if any(path.glob("training.safetensors")) or any(path.glob("shard-*-00002-*"))
    )
    return Whole(checkpoints=frozenset(trained), has_model=(run / "model").is_dir(), problems=tuple(torn))


def torn_files(folder: Path) -> list[str]:
    """What in a folder does not fit its checksums."""
    try:
        checksums = json.loads((folder / "checksums.json").read_bytes())
    except (OSError, ValueError) as error:
        return [f"{folder}: checksums.json: {error}"]
    found = {
        path.name: path for path in folder.iterdir() if path.name != "checksums.json" and not DRAFT.fullmatch(path.name)
    }
    problems = [f"{folder / name}: missing" for name in checksums if name not in found]
    for name, path in found.items():
        seal = checksums.get(name)
        # A file whose checksum is gone is about to be dropped: Adam's state, of older checkpoints.
        if seal is not None and (seal["bytes"], seal["sha256"]) != (path.stat().st_size, _sha256(path)):
            problems.append(f"{path}: torn")
    return problems


def _sharded_tensors(folder: Path) -> dict[str, list[str]]:
    """What each tensor's parts hold: safetensors is a length, a header in JSON, and the tensors behind each other."""
    found: dict[str, list[str]] = {}
    for path in folder.glob("shard-*"):
        content = path.read_bytes()
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        where = json.loads(header.pop("__metadata__", {}).get("DCP_SHARDING_INFO", "{}"))
        for name, tensor in header.items():
            begin, end = (8 + length + offset for offset in tensor["data_offsets"])
            digest = hashlib.sha256(content[begin:end]).hexdigest()
            found.setdefault(name, []).append(f"{tensor['dtype']} {tensor['shape']} {where.get(name)} {digest}")
    return found


def _timeless(record: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in TIMES}


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "a folder"
