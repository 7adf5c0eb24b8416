"""Imports point one way: the table of ARCHITECTURE.md, held against the source."""

import ast
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import attendo

ROOT = Path(attendo.__file__).parent

# Each row may import from the rows above it and from itself; two of one row do not know each other.
TABLE = [
    ["errors", "text_tables", "version"],
    ["destinations", "replacing"],
    ["files", "reading", "settings", "threads", "workers", "xml_text"],
    ["output_folders"],
    ["synthetic", "text"],
    ["formats", "parsing"],
    ["model", "native"],
    ["checkpoint"],
    ["training", "decoding"],
    ["terms"],
    ["evaluation", "interop", "markup"],
    ["memory", "recipe", "attention_maps"],
    ["workflow", "diagrams"],
    ["demo", "bench", "cluster", "plots", "spacy", "serving", "client", "learning"],
    ["paper"],
    ["cli"],
    ["__main__"],
]
RANK = {part: rank for rank, row in enumerate(TABLE) for part in row}

# Within a part its sub-packages likewise; modules beside them are bound by the absence of cycles alone.
WITHIN = {
    "serving": [["http"], ["access", "languages", "core"], ["documents"], ["apis"]],
    "workflow": [
        ["machine", "datasets", "preparation", "exchange"],
        ["engines"],
        ["evaluation", "translation"],
        ["cards"],
        ["documents", "runs"],
    ],
    "decoding": [["constraints", "backends"], ["searches", "guards"], ["lines"]],
    "text": [["files", "subwords"]],
    "model": [["mixing", "weights"]],
}

EXTRAS = {
    "tensorboard",
    "torch.utils.tensorboard",
    "ctranslate2",
    "transformers",
    "onnx",
    "onnxruntime",
    "google.protobuf",
    "nltk",
    "pyarrow",
    "rapidfuzz",
    "ray",
    "sentencepiece.sentencepiece_model_pb2",  # which needs protobuf
    "zstandard",
}
"""Not installed everywhere: what needs one imports it where it is wanted, so that the rest works without."""
NEED_TORCH = {
    "torch",
    "attendo.checkpoint.run_checkpoints",
    "attendo.decoding.backends.torch_model",
    "attendo.model.weights.building",
    "attendo.workflow.machine.brief_waits",
    "attendo.workflow.machine.device",
    "attendo.workflow.runs.run_verification",
    "attendo.workflow.machine.torch_facts",
}
"""torch, and the modules of ours that import it and that decoding uses only where the native kernels are not enough."""
SLOW = {
    "attendo.recipe",
    "attendo.memory",
    "attendo.settings.validated",
    "attendo.text.subwords.sampling",
    "attendo.workflow.cards.card_evaluations",
    "attendo.workflow.engines.parse",
    "sacrebleu",
}
"""What takes long to import and is needed for something else than translating a line: pydantic's checks where a setting
is unusual, subword sampling, parsing, scores, translation memories."""

LOADED_BY_ROW = {"attendo.formats.table"}
"""Modules with a literal table whose cases import what they need when they are first used."""

WITHOUT_TORCH = [
    "attendo.formats",
    "attendo.terms",
    "attendo.text",
    "attendo.parsing",
    "attendo.evaluation",
    "attendo.recipe",
    "attendo.errors",
    "attendo.destinations",
    "attendo.files",
    "attendo.output_folders",
    "attendo.reading",
    "attendo.replacing",
    "attendo.settings",
    "attendo.synthetic",
    "attendo.text_tables",
    "attendo.threads",
    "attendo.xml_text",
    "attendo.native",
    "attendo.attention_maps",
    "attendo.client",
    "attendo.decoding.lines.translator",
    "attendo.serving",
    "attendo.workflow.confidence",
    "attendo.workflow.translation.file_translation",
    "attendo.workflow.inspect",
    "attendo.workflow.engines.parse",
    "attendo.workflow.engines.translate",
    "attendo.workflow.verification",
]


def module_name(path: Path) -> str:
    return ".".join(("attendo", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(tree: ast.AST) -> frozenset[str]:
    """What a module imports of attendo; `from attendo.x import y` counts as `attendo.x.y` where that is a module."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else str(node.module) for name in full}
    return frozenset(name for name in names if name == "attendo" or name.startswith("attendo."))


def part_of(module: str) -> str:
    return module.split(".")[1]


def is_of_an_extra(node: ast.Import | ast.ImportFrom) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    lazy = EXTRAS | NEED_TORCH | SLOW
    return all(any(name == extra or name.startswith(f"{extra}.") for extra in lazy) for name in names)


def imports_inside(tree: ast.AST) -> tuple[int, ...]:
    """The lines of imports within functions and classes, but for those that may stand there."""
    return tuple(
        node.lineno
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom) and not is_of_an_extra(node)
    )


@dataclass(frozen=True)
class Module:
    """What is asked of a module, which is parsed once."""

    imported: frozenset[str]
    imports_inside: tuple[int, ...]
    is_docstring_only: bool


@cache
def parsed(module: str) -> Module:
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    is_docstring_only = len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr)
    return Module(imported(tree), imports_inside(tree), is_docstring_only)


def test_imports_point_downwards() -> None:
    for module in MODULES.keys() - {"attendo"}:
        part = part_of(module)
        assert part in RANK, f"{module}: give it a place in the table, here and in ARCHITECTURE.md"
        for name in parsed(module).imported:
            if name == "attendo":  # the version
                assert part == "cli" or RANK[part] >= RANK["workflow"], f"{module} imports the package itself"
                continue
            other = part_of(name)
            assert other == part or RANK[other] < RANK[part], (
                f"{module} imports {name}, which stands above or beside it"
            )


def test_imports_between_sub_packages_point_downwards() -> None:
    seen = set()
    for module in MODULES.keys() - {"attendo"}:
        part, *inner = module.split(".")[1:]
        ranks = {name: rank for rank, row in enumerate(WITHIN.get(part, [])) for name in row}
        if len(inner) < 2 or not ranks:
            continue
        own = inner[0]
        seen.add((part, own))
        assert own in ranks, f"{module}: give attendo.{part}.{own} a row in WITHIN"
        for name in parsed(module).imported:
            _, other_part, *other = name.split(".") if name.count(".") else ("", name)
            if other_part != part or len(other) < 2 or other[0] == own:
                continue
            assert ranks[other[0]] < ranks[own], f"{module} imports {name}, which stands above or beside it"
    assert seen == {(part, name) for part, rows in WITHIN.items() for row in rows for name in row}


def test_there_is_no_cycle() -> None:
    graph = {module: parsed(module).imported & MODULES.keys() - {module, "attendo"} for module in MODULES}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"a cycle: {' > '.join([*path, module])}"
        if module not in done:
            for name in graph[module]:
                visit(name, (*path, module))
            done.add(module)

    for module in graph:
        if module != "attendo":  # its names are lazy
            visit(module, ())


def test_imports_stand_at_the_top() -> None:
    inside = {
        module: parsed(module).imports_inside
        for module in MODULES
        if module not in {"attendo", *LOADED_BY_ROW} and part_of(module) != "cli" and parsed(module).imports_inside
    }
    assert not inside, "imports inside of functions or classes, by lines"


def test_packages_hold_a_docstring_only() -> None:
    packages = [name for name in MODULES if MODULES[name].name == "__init__.py" and name != "attendo"]
    assert len(packages) > 20
    assert [name for name in packages if not parsed(name).is_docstring_only] == []


def test_text_evaluation_recipes_decoding_serving_and_the_command_line_start_without_torch() -> None:
    wanted = [name for name in MODULES if any(name == root or name.startswith(f"{root}.") for root in WITHOUT_TORCH)]
    wanted += [name for name in MODULES if part_of(f"{name}.") == "cli" and not name.endswith("__main__")]
    wanted += ["attendo.workflow.preparation.prepare"]
    code = f"import sys, {', '.join(wanted)}; sys.exit('torch' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr or "torch was imported"
