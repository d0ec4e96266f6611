"""fits.py DOCUMENT SCHEMA: whether a JSON document fits a schema."""
import json, sys
document, schema = (json.load(open(name)) for name in sys.argv[1:3])

# Enough of draft 7 for our schemas where Python has no jsonschema.
def fits(value, rule, at=""):
    if "$ref" in rule:
        target = schema
        for part in rule["$ref"].split("/")[1:]:
            target = target[part]
        fits(value, target, at)
    if "anyOf" in rule:
        def good(one):
            try:
                fits(value, one, at)
            except AssertionError:
                return False
            return True
        assert any(good(one) for one in rule["anyOf"]), (at, value)
    assert value == rule.get("const", value), (at, value)
    kinds = {"object": dict, "array": list, "string": str, "boolean": bool, "integer": int, "number": (int, float),
             "null": type(None)}
    wanted = rule.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    assert not wanted or any(isinstance(value, kinds[k]) for k in wanted), (at, value, wanted)
    assert value in rule.get("enum", [value]), (at, value)
    if isinstance(value, (int, float)):
        assert value >= rule.get("minimum", value) and not value <= rule.get("exclusiveMinimum", value - 1), (at, value)
    if isinstance(value, dict):
        for key in rule.get("required", []):
            assert key in value, (at, key)
        for key, inner in value.items():
            known = rule.get("properties", {})
            other = rule.get("additionalProperties", True)
            assert key in known or other is not False, (at, key)
            fits(inner, known.get(key, other if isinstance(other, dict) else {}), at + "/" + key)
    if isinstance(value, list):
        for i, inner in enumerate(value):
            fits(inner, rule.get("items", {}), f"{at}/{i}")

fits(document, schema)
try:
    import jsonschema
    jsonschema.validate(document, schema)
except ImportError:
    pass
