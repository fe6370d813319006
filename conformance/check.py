#!/usr/bin/env python3
"""Does reader.py read what it must, and refuse what it must?

    python3 conformance/check.py

A line a file and a closing one; exit status 1 if anything failed.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True

import reader  # noqa: E402

ROOT = pathlib.Path(__file__).parent


def check_valid(entry):
    """Returns how the reader's content of a sound file differs from the expected one, or None."""
    expected = json.loads((ROOT / entry["content"]).read_text())
    try:
        found = reader.Segment((ROOT / entry["file"]).read_bytes()).content()
    except reader.Refusal as refusal:
        return f"refused: {refusal}"
    # As JSON, which has lists where Python has tuples.
    found = json.loads(json.dumps(found))
    different = [part for part in expected if found.get(part) != expected[part]]
    return f"other {', '.join(different)}" if different or found.keys() != expected.keys() else None


def check_damaged(entry):
    """Returns how the reader's refusal of a damaged file differs from the expected one, or None."""
    data = (ROOT / entry["file"]).read_bytes()
    try:
        reader.Segment(data)
    except reader.Refusal as refusal:
        found, expected = (refusal.kind, refusal.section), (entry["kind"], entry["section"])
        if not 0 <= refusal.offset <= len(data):
            return f"refused at a byte that the file does not have: {refusal}"
        return None if found == expected else f"{found} instead of {expected}: {refusal}"
    return "not refused"


def check_bitmap(entry):
    """Returns how the reader's values of a bitmap differ from the expected ones, or None."""
    expected = [value for first, last in entry["ranges"] for value in range(first, last + 1)]
    try:
        found = reader.roaring(reader.Cursor("postings", 0, bytes.fromhex(entry["bytes"])))
    except reader.Refusal as refusal:
        return f"refused: {refusal}"
    return None if found == expected else "other values"


def check_transducer(entry):
    """Returns how the reader's entries of a transducer differ from the expected ones, or None."""
    cursor = reader.Cursor("term index", 0, bytes.fromhex(entry["bytes"]))
    try:
        found = [[key.hex(), value] for key, value in reader.transducer(cursor, 5)]
    except reader.Refusal as refusal:
        return f"refused: {refusal}"
    return None if found == entry["entries"] else "other entries"


def check_withdrawals(entry):
    """Returns how the reader's records of withdrawals differ from the expected ones, or None."""
    try:
        found = reader.withdrawals(bytes.fromhex(entry["bytes"]))
    except reader.Refusal as refusal:
        return None if entry["records"] is None else f"refused: {refusal}"
    return None if found == entry["records"] else f"other records: {found}"


def main():
    manifest = json.loads((ROOT / "manifest.json").read_text())
    checks = [(entry["file"], check_valid, entry) for entry in manifest["valid"]]
    checks += [(entry["file"], check_damaged, entry) for entry in manifest["damaged"]]
    checks += [(f"bitmap: {entry['about']}", check_bitmap, entry) for entry in manifest["bitmaps"]]
    for entry in manifest["transducers"]:
        checks.append((f"transducer: {entry['about']}", check_transducer, entry))
    for entry in manifest["withdrawals"]:
        checks.append((f"withdrawals: {entry['about']}", check_withdrawals, entry))
    failed = 0
    for name, check, entry in checks:
        wrong = check(entry)
        failed += wrong is not None
        print(f"{name}: {'ok' if wrong is None else 'FAILED: ' + wrong}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    # A manifest without entries checks nothing.
    parts = ("valid", "damaged", "bitmaps", "transducers", "withdrawals")
    return 1 if failed or not all(manifest[part] for part in parts) else 0


if __name__ == "__main__":
    sys.exit(main())
