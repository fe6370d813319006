"""Similarities of all pairs of programs by copydetect, for `cento-research programs --other`.

    cento-research programs --corpus irplag.jsonl --export DIR
    python3 -m venv VENV && VENV/bin/pip install copydetect==0.5.0
    VENV/bin/python research/programs/by_copydetect.py DIR > copydetect.tsv

A similarity is the greater share of tokens that one program has of the other, by which copydetect
decides what it shows, with its default thresholds of noise and guarantee.
"""

import sys
from pathlib import Path

from copydetect import CodeFingerprint, compare_files

NOISE, GUARANTEE = 25, 30

root = Path(sys.argv[1])
files = sorted(path for path in root.rglob("*") if path.is_file())
prints = [CodeFingerprint(str(path), NOISE, GUARANTEE - NOISE + 1, language="java") for path in files]
for i, one in enumerate(prints):
    for j in range(i):
        _, similarities, _ = compare_files(one, prints[j])
        if max(similarities) > 0:
            print(files[i].relative_to(root), files[j].relative_to(root), max(similarities), sep="\t")
