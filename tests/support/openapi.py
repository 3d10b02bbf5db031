"""Whether an answer of REST is as the daemon's own /openapi.json says: status, media type, members."""

import copy
import json
import re

import jsonschema

MOST_ITEMS = 20  # of a list; all of thousands would take longer than the test


def _strict(schema):
    """OpenAPI 3.0 as JSON Schema, in which an object has no members but those that are described."""
    if isinstance(schema, list):
        return [_strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(value) for key, value in schema.items() if key not in ("nullable", "exclusiveMinimum")}
    if "properties" in made:
        made.setdefault("additionalProperties", False)
    if schema.get("exclusiveMinimum") is True:
        made["exclusiveMinimum"] = made.pop("minimum")
    if schema.get("nullable") and "type" in made:
        made["type"] = [made["type"], "null"]
    return made


class Contract:
    """What one document promises."""

    def __init__(self, document):
        self.paths = []
        schemas = document["components"]["schemas"]
        self._components = {"components": {"schemas": {name: _strict(one) for name, one in schemas.items()}}}
        self._validators = {}
        for pattern, operations in document["paths"].items():
            # A name of the path stands for one segment, and fixed segments win over names.
            fits = re.compile(re.sub(r"\{\w+\}", "[^/]+", pattern) + r"\Z")
            self.paths.append((pattern.count("{"), fits, pattern, operations))
        self.paths.sort(key=lambda path: path[0])

    def operation(self, method, path):
        for _, fits, pattern, operations in self.paths:
            if fits.match(path):
                return pattern, operations.get(method.lower())
        return None, None

    def check(self, method, target, status, media, body):
        """AssertionError where the answer is another one than described; a path without description is not judged."""
        pattern, operation = self.operation(method, target.split("?")[0])
        if operation is None:
            return
        where = f"{method} {target}: {status}"
        answers = operation["responses"]
        said = answers.get(str(status)) or answers.get("default")
        assert said, f"{where} is not described; {', '.join(answers)} are"
        media = media.split(";")[0]
        assert media in said["content"], f"{where}: {media} is not described; {', '.join(said['content'])} are"
        if not media.endswith("json"):
            return
        found = next(
            self._validator(pattern, method, status, said["content"][media]["schema"]).iter_errors(_shortened(body)),
            None,
        )
        assert found is None, f"{where}: {list(found.absolute_path)}: {found.message[:500]}"

    def _validator(self, pattern, method, status, schema):
        key = (pattern, method, status)
        if key not in self._validators:
            whole = {**_strict(copy.deepcopy(schema)), **self._components}
            if "$ref" in whole:
                whole = {"allOf": [{"$ref": whole.pop("$ref")}], **self._components}
            self._validators[key] = jsonschema.Draft7Validator(whole)
        return self._validators[key]


def _shortened(body):
    value = json.loads(body)
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        value["items"] = value["items"][:MOST_ITEMS]
    return value


def breaks(old, new):
    """What a client of the old document could miss in the new one."""
    found = []
    for path, operations in old["paths"].items():
        for method, before in operations.items():
            after = new["paths"].get(path, {}).get(method)
            if after is None:
                found.append(f"{method} {path} is gone")
                continue
            names = {one["name"]: one for one in before.get("parameters", [])}
            for parameter in after.get("parameters", []):
                if parameter.get("required") and not names.get(parameter["name"], {}).get("required"):
                    found.append(f"{method} {path} requires {parameter['name']} now")
            gone = names.keys() - {one["name"] for one in after.get("parameters", [])}
            found += [f"{method} {path} does not take {name} any more" for name in sorted(gone)]
    for name, before in old["components"]["schemas"].items():
        after = new["components"]["schemas"].get(name)
        found += [f"{name}: the schema is gone"] if after is None else _narrowed(name, before, after)
    return found


def _narrowed(where, before, after):
    found = []
    if before.get("type") != after.get("type"):
        found.append(f"{where} is {after.get('type')} now, it was {before.get('type')}")
    for name, member in before.get("properties", {}).items():
        if name not in after.get("properties", {}):
            found.append(f"{where}.{name} is gone")
        else:
            found += _narrowed(f"{where}.{name}", member, after["properties"][name])
    gone = set(before.get("required", [])) - set(after.get("required", []))
    found += [f"{where}.{name} may be absent now" for name in sorted(gone)]
    return found
