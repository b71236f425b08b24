// Defines failure codes of Git repositories.

export const GIT_CODES = {
  'git-invalid-url': 'The repository is not a URL that can be fetched from; correct the setting that names it.',
  'git-invalid-ref':
    'The branch or tag is not a valid name, semver is not a range, or the commit is not 40 hexadecimal digits; correct the setting that names it.',
  'git-transport-unsupported':
    'The scheme of the URL is none of https, http, ssh, git and file, or the HTTP server hands out the files of the repository (the dumb protocol), but only the smart HTTP protocol is read. Use another URL, or serve the repository by git http-backend.',
  'git-ssh-key-missing':
    'The repository is reached by ssh, and no key is configured: set sshKeyFile and knownHostsFile, at the source or in git.credentials.',
  'git-ssh-key-unusable':
    'The SSH key or the known_hosts file cannot be read, the file does not hold a private key (but a public one, for example), or others may read the key; correct the file (chmod 600).',
  'git-ssh-key-locked':
    "The SSH key has a passphrase, which skep cannot enter: remove it (`ssh-keygen -p -N '' -f FILE`), or use a deploy key without one.",
  'git-ssh-host-unknown':
    'The SSH server shows a key that knownHostsFile does not have for it. Nothing was sent; if the server is the right one, add its key (ssh-keyscan) after checking it.',
  'git-ssh-missing':
    'There is no ssh program on the PATH; install the OpenSSH client, or use the https URL of the repository.',
  'git-files-not-allowed': 'The repository is a file URL; set outbound.allowFiles if that is intended.',
  'git-unreachable':
    'The server of the repository sends no usable answer; the last fetched commit stays in use and it is tried again.',
  'git-auth-required':
    'The server requires credentials or refuses the configured ones; correct the user name or the password file.',
  'git-not-a-repository':
    'The server at the URL does not serve a Git repository, or hides it from these credentials; correct the URL.',
  'git-ref-not-found':
    'The repository has no such branch, tag or commit, no tag in the range, or its server does not hand the commit out; correct the setting that names it.',
  'git-history-missing':
    'The two commits have no common ancestor in this clone, because it lacks a part of the history or because they are unrelated. Fetch the whole history (`fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` of GitLab, `git fetch --unshallow`), or name another base.',
  'git-signature-missing':
    'The commit, or the tag that leads to it, is not signed, and `verify` requires a signature. The last good commit stays in use.',
  'git-signature-untrusted':
    'The signature is by a key that is not in `verify.keys`. If its owner is to be trusted, add the public key there.',
  'git-signature-invalid':
    'The signature does not match the signed object, has expired, or is of a sort that is not accepted. The last good commit stays in use.',
  'git-verify-keys-unusable':
    'A file of `verify.keys` or `plans.keys` cannot be read, or holds no public key of a known sort: SSH keys (.pub, allowed_signers), and for commits OpenPGP keys (.asc, .gpg). A private key is not accepted.',
  'plan-signature-missing':
    'Signed plan files are required (`plans`), and there is no FILE.sig next to the file; nothing was applied.',
  'plan-signature-untrusted':
    'The signature next to the file is by a key that is not in `plans.keys`; nothing was applied.',
  'plan-signature-invalid':
    'The signature next to the file does not match it, was made for another purpose, or is not a signature; nothing was applied.',
  'git-path-not-found': 'The commit has no such file or folder; correct the setting that names the path.',
  'git-too-large': 'The repository or one of its files is larger than the limit; nothing of it was used.',
  'git-unsupported-repository':
    'The repository uses a format that this version does not read, such as SHA-256 object names. Use one with SHA-1 names.',
  'git-protocol-error': 'The server broke off or did not keep to the Git protocol; it is tried again.',
  'git-damaged':
    'An object of the repository is missing or damaged; a local copy is fetched again; repair a repository at a file URL with git fsck.',
  'git-state-locked':
    'Another process uses the local copy of the repository; give each instance its own stateDir, or wait.',
  'git-state-unwritable':
    'The local copy of the repository cannot be written; look at the rights and the space of stateDir.',
  'git-already-exists': 'The folder for a new repository is not empty; choose another one.',
} as const;

export type GitCode = keyof typeof GIT_CODES;
