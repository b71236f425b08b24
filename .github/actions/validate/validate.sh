#!/usr/bin/env bash
# Runs `skep validate` once for each report: annotations into the log, SARIF and Markdown into files, Markdown into the summary.
# What has not changed in between is remembered, so only the first run checks anything. In: PATHS, SCHEMAS and
# POLICIES, one a line.
set -euo pipefail

skep=(node "$ACTION/../../../dist/skep.js")
reports=$(mktemp -d "${RUNNER_TEMP:-/tmp}/skep.XXXXXX")

arguments=()
while IFS= read -r line; do
  if [[ -n $line ]]; then arguments+=(--schemas "$line"); fi
done <<<"${SCHEMAS:-}"
while IFS= read -r line; do
  if [[ -n $line ]]; then arguments+=(--policies "$line"); fi
done <<<"${POLICIES:-}"
arguments+=(--)
while IFS= read -r line; do
  if [[ -n $line ]]; then arguments+=("$line"); fi
done <<<"${PATHS:-.}"

code=0
"${skep[@]}" validate -o github "${arguments[@]}" || code=$?
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
# Anything else than a verdict, such as a folder that is not there, has no report.
if [[ $code -ne 0 && $code -ne 3 && $code -ne 4 ]]; then exit 0; fi

"${skep[@]}" validate -o sarif "${arguments[@]}" >"$reports/skep.sarif" || true
"${skep[@]}" validate -o markdown "${arguments[@]}" >"$reports/skep.md" || true
cat "$reports/skep.md" >>"$GITHUB_STEP_SUMMARY"
{
  echo "sarif-file=$reports/skep.sarif"
  echo "markdown-file=$reports/skep.md"
} >>"$GITHUB_OUTPUT"
