#!/usr/bin/env bash
# One comment for each pull request: found again by the marker in its first line, among those of bots, and updated. In: NUMBER
# of the pull request, REPORT the file, GH_TOKEN for gh.
set -euo pipefail

if [[ ! -s ${REPORT:-} ]]; then exit 0; fi
marker=$(head -n 1 "$REPORT")
filter='.[] | select(.user.type == "Bot" and ((.body // "") | split("\n")[0] | rtrimstr("\r")) == env.MARKER) | .id'
known=$(MARKER=$marker gh api --paginate "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments?per_page=100" --jq "$filter" | head -n 1)

if [[ -n $known ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$known" --field "body=@$REPORT" --silent
else
  gh api --method POST "repos/$GITHUB_REPOSITORY/issues/$NUMBER/comments" --field "body=@$REPORT" --silent
fi
