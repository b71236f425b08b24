#!/usr/bin/env bash
# Makes the documents of this folder anew, with the real tools: `sops` and `age-keygen` must be on PATH.
# go install github.com/getsops/sops/v3/cmd/sops@v3.13.3 filippo.io/age/cmd/age-keygen@latest
# Every key here is for tests only: it is public, and protects nothing.
set -euo pipefail
cd "$(dirname "$0")"
export SOPS_AGE_KEY_FILE=$PWD/TEST-ONLY-age-keys.txt
unset SOPS_AGE_KEY || true
mapfile -t ours < <(age-keygen -y TEST-ONLY-age-keys.txt)
stranger=$(age-keygen 2>/dev/null | age-keygen -y)

# SOPS_OLD names an older sops (v3.8.0 was it), for the one document that it has written.
seal() { # NAME EXTENSION ARGUMENTS...
  local name=$1 extension=$2
  shift 2
  "${writer:-sops}" --encrypt "$@" "written/$name.$extension" > "documents/$name.sealed.$extension"
  sops --decrypt "documents/$name.sealed.$extension" > "documents/$name.open.$extension"
}

mkdir -p documents
seal secret yaml --age "${ours[0]}" --encrypted-regex '^(data|stringData)$'
[ -z "${SOPS_OLD:-}" ] || writer=$SOPS_OLD seal old yaml --age "${ours[0]}" --encrypted-regex '^(data|stringData)$'
seal whole yaml --age "$stranger,${ours[0]}"
seal json json --age "${ours[0]}" --unencrypted-regex '^(apiVersion|kind|metadata|type)$'
seal suffix yaml --age "${ours[0]}" --encrypted-suffix _secret
seal mac-only yaml --age "${ours[0]}" --encrypted-regex '^stringData$' --mac-only-encrypted
seal comments yaml --age "${ours[0]}" --encrypted-comment-regex 'sops:enc'
seal post-quantum yaml --age "${ours[1]}" --encrypted-regex '^stringData$'
cat > .sops.yaml <<RULES
creation_rules:
  - shamir_threshold: 2
    encrypted_regex: ^stringData$
    key_groups: [{age: ["${ours[0]}"]}, {age: ["$stranger"]}, {age: ["$stranger", "${ours[1]}"]}]
RULES
seal groups yaml --config .sops.yaml
rm .sops.yaml
