echo "${HOME:?}"
