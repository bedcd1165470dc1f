"""The API's document (OpenAPI 3.1), made from the endpoints and their models, and the page that shows it."""

import json
import re
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic.json_schema import models_json_schema

from annotator_ui.api.endpoints import ENDPOINTS, Endpoint
from annotator_ui.api.models import Fault
from annotator_ui.theme import STYLE
from eds.distribution import VERSION
from eds.html import render

REFUSALS = {
    "401": "The token is missing, has ended or was revoked.",
    "403": "The account has no right to this.",
    "404": "What the address names does not exist.",
    "409": "The request costs judgements: agree to the price.",
    "422": "The request cannot be read, or something in it is wrong; every fault is listed.",
    "503": "The database or the project is busy: send it again later.",
}


def document(root: str) -> dict[str, Any]:
    """Return the whole document; `root` is where the API is."""
    models = {model for one in ENDPOINTS for model in (one.body, one.gives) if model is not None} | {Fault}
    ordered = sorted(models, key=lambda model: model.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in ordered], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for one in ENDPOINTS:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(one)
    return {
        "openapi": "3.1.0",
        "info": {"title": "eds annotator", "version": VERSION, "description": "Tasks in, votes out, progress."},
        "servers": [{"url": root}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def document_page(root: str) -> str:
    """Return the document as a page for people: no script, nothing from elsewhere."""
    operations = [
        {
            "method": one.method,
            "path": root + one.path,
            "about": one.about,
            "role": one.role,
            "fields": _fields(one),
            "example": _example(root, one),
        }
        for one in ENDPOINTS
    ]
    return render(
        "annotator_ui/api.html.j2",
        style=STYLE,
        root=root,
        operations=operations,
        refusals=REFUSALS,
        version=VERSION,
    )


def _operation(one: Endpoint) -> dict[str, Any]:
    """One method of a path."""
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", one.path)
    ]
    if one.query is not None:
        for name, schema in one.query.model_json_schema()["properties"].items():
            parameters.append({"name": name, "in": "query", "required": False, "schema": schema})
    result: dict[str, Any] = {
        "summary": one.about,
        "description": "For leads." if one.role == "lead" else "For every account.",
        "parameters": parameters,
        "responses": {
            "201" if one.method == "POST" else "200": {"description": "Done.", "content": _content(one.gives)},
            **{status: {"description": text, "content": _content(Fault)} for status, text in REFUSALS.items()},
        },
    }
    if one.body is not None:
        result["requestBody"] = {"required": True, "content": _content(one.body)}
    return result


def _content(model: type[BaseModel]) -> dict[str, Any]:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{model.__name__}"}}}


def _fields(one: Endpoint) -> list[tuple[str, str, str]]:
    """What a request may say: name, default, meaning."""
    model = one.body or one.query
    fields = {} if model is None else model.model_fields
    return [(name, _default(field), field.description or "") for name, field in fields.items()]


def _default(field: FieldInfo) -> str:
    return "required" if field.is_required() else json.dumps(field.get_default(call_default_factory=True))


def _example(root: str, one: Endpoint) -> str:
    """A request that can be typed."""
    body = EXAMPLES.get(f"{one.method} {one.path}")
    lines = [f'curl -H "Authorization: Bearer $EDS_TOKEN" https://HOST{root}{one.path}']
    if one.method != "GET":
        lines[0] = lines[0].replace("curl", f"curl -X {one.method}", 1)
    if body is not None:
        lines.append(f"  -H 'Content-Type: application/json' -d '{json.dumps(body)}'")
    return " \\\n".join(lines)


EXAMPLES: dict[str, object] = {
    "POST /pairs": {"pairs": [{"query_id": "a.jpg", "candidate_id": "b.jpg"}], "agree": True},
    "POST /campaigns": {"name": "first", "experts": ["anna"], "origins": ["pool"], "agree": True},
    "POST /webhooks": {"url": "https://hooks.example.com/eds"},
}
