#!/usr/bin/env bash
# Runs `skep plan --render` once for each report: annotations into the log, SARIF and Markdown into files, Markdown into the
# summary. In: PATHS, one a line, and BASE; without BASE, the base branch of the pull request.
set -euo pipefail

skep=(node "$ACTION/../../../dist/skep.js")
reports=$(mktemp -d "${RUNNER_TEMP:-/tmp}/skep.XXXXXX")

if [[ -z ${BASE:-}${GITHUB_BASE_REF:-} ]]; then
  echo '::error title=usage::The event that started this workflow is not a pull request, so it has no base branch: set "base" of the action to the branch, tag or commit to compare with.'
  echo 'exit-code=64' >>"$GITHUB_OUTPUT"
  exit 0
fi
arguments=(--base "${BASE:-origin/${GITHUB_BASE_REF:-}}")
while IFS= read -r line; do
  if [[ -n $line ]]; then arguments+=(--path "$line"); fi
done <<<"${PATHS:-}"

code=0
"${skep[@]}" plan --render -o github "${arguments[@]}" || code=$?
echo "exit-code=$code" >>"$GITHUB_OUTPUT"
# Any other code, such as that of a clone without history, comes without a report.
if [[ $code -ne 0 && $code -ne 3 ]]; then exit 0; fi

"${skep[@]}" plan --render -o sarif "${arguments[@]}" >"$reports/skep.sarif" || true
"${skep[@]}" plan --render -o markdown "${arguments[@]}" >"$reports/skep.md" || true
cat "$reports/skep.md" >>"$GITHUB_STEP_SUMMARY"
{
  echo "sarif-file=$reports/skep.sarif"
  echo "markdown-file=$reports/skep.md"
} >>"$GITHUB_OUTPUT"
