"""The description of the APIs as one page of plain HTML, without scripts or external resources."""

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; --line: #8886; --code: #8881; --accent: #0a66b7; }
@media (prefers-color-scheme: dark) { :root { --accent: #6db3f2; } }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 1rem; }
a { color: var(--accent); }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; }
details { border: 1px solid var(--line); border-radius: .5rem; margin: .5rem 0; padding: 0 .9rem; }
summary { cursor: pointer; padding: .6rem 0; overflow-wrap: anywhere; }
summary code { font-weight: 600; }
.method { display: inline-block; min-width: 4rem; font-weight: 700; color: var(--accent); }
pre, code { font: .875rem/1.45 ui-monospace, monospace; }
pre { background: var(--code); border-radius: .4rem; padding: .7rem; overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .5rem 0; display: block; overflow-x: auto; }
th, td { border-top: 1px solid var(--line); padding: .35rem .6rem .35rem 0; text-align: left; vertical-align: top; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
"""
_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
POLICY = f"default-src 'none'; style-src 'sha256-{_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""Content security policy of the page: its own style, and nothing else."""
_DEPTH = 6


def api_page(schema: Mapping[str, Any]) -> str:
    """Renders an OpenAPI document as a page.

    Args:
        schema: the document, as in `/openapi.json`.
    """
    info = schema["info"]
    groups: dict[str, list[str]] = {}
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            tag = (operation.get("tags") or ["others"])[0]
            groups.setdefault(tag, []).append(_operation(schema, path, method, operation))
    parts = [f"<section><h2>{escape(tag)}</h2>{''.join(found)}</section>" for tag, found in groups.items()]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(info['title'])}</title><style>{_STYLE}</style></head><body>"
        f"<header><h1>{escape(info['title'])} {escape(info['version'])}</h1>{_text(info.get('description', ''))}"
        '<p>For programs: <a href="openapi.json">openapi.json</a>.</p></header>'
        f"<main>{''.join(parts)}</main></body></html>"
    )


def _operation(schema: Mapping[str, Any], path: str, method: str, operation: Mapping[str, Any]) -> str:
    parts = [_text(operation.get("description", ""))]
    if parameters := operation.get("parameters"):
        given = [(each["name"], each["in"], _type(each["schema"]), each.get("description", "")) for each in parameters]
        parts.append(_table(("Parameter", "In", "Type", ""), given))
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        fields = _fields(_resolved(schema, content.get("schema", {})))
        parts.append(f"<p>Body, <code>{escape(kind)}</code>:</p>{_table(('Field', 'Type', 'Default', ''), fields)}")
    rows = [(status, answer.get("description", "")) for status, answer in operation.get("responses", {}).items()]
    parts.append(_table(("Status", "Answer"), rows))
    good = operation.get("responses", {}).get("200", {}).get("content", {}).get("application/json", {}).get("schema")
    if good:
        sample = json.dumps(_sample(schema, good, _DEPTH), indent=2, ensure_ascii=False)
        parts.append(f'<p>Answer:</p><pre tabindex="0">{escape(sample)}</pre>')
    head = f'<span class="method">{escape(method.upper())}</span> <code>{escape(path)}</code>'
    return f"<details><summary>{head} {_marked(operation.get('summary', ''))}</summary>{''.join(parts)}</details>"


def _fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    required = schema.get("required", ())
    for name, field in schema.get("properties", {}).items():
        default = "needed" if name in required else json.dumps(field["default"]) if "default" in field else ""
        yield name, _type(field), default, field.get("description", "")


def _type(schema: Mapping[str, Any]) -> str:
    """Describes a schema's type in a few words."""
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type(each) for each in schema["anyOf"]))
    if "enum" in schema:
        return " | ".join(json.dumps(each) for each in schema["enum"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _sample(schema: Mapping[str, Any], part: Mapping[str, Any], depth: int) -> Any:
    """Returns a sample of a schema, with types in place of values."""
    part = _resolved(schema, part)
    if depth == 0:
        return "..."
    if "properties" in part:
        return {name: _sample(schema, field, depth - 1) for name, field in part["properties"].items()}
    if part.get("type") == "array" and "items" in part:
        return [_sample(schema, part["items"], depth - 1)]
    if "anyOf" in part:
        first, *others = [_sample(schema, each, depth - 1) for each in part["anyOf"]]
        return first if not all(isinstance(each, str) for each in (first, *others)) else " or ".join((first, *others))
    return _type(part)


def _resolved(schema: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    name = str(part.get("$ref", "")).rpartition("/")[2]
    found: Mapping[str, Any] = schema.get("components", {}).get("schemas", {}).get(name, {}) if name else part
    return found


def _table(head: tuple[str, ...], rows: Any) -> str:
    cells = [f"<tr>{''.join(f'<td>{_marked(str(cell))}</td>' for cell in row)}</tr>" for row in rows]
    if not cells:
        return ""
    titles = "".join(f'<th scope="col">{escape(title)}</th>' for title in head)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{''.join(cells)}</tbody></table>"


def _text(text: str) -> str:
    return "".join(f"<p>{_marked(part.strip())}</p>" for part in text.split("\n\n") if part.strip())


def _marked(text: str) -> str:
    """Renders text as HTML; text between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))
