// The codes of failures around Git repositories.

export const GIT_CODES = {
  'git-invalid-url': 'The repository is no URL that can be fetched from; correct it where it is configured.',
  'git-invalid-ref':
    'The branch or tag is no valid name, semver no range, or the commit is not 40 hexadecimal digits; correct it where it is configured.',
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
  'git-files-not-allowed': 'The repository is a file URL; set outbound.allowFiles if that is meant.',
  'git-unreachable':
    'The server of the repository gives no usable answer; the last fetched commit stays in use and it is tried again.',
  'git-auth-required':
    'The server asks for credentials or refuses the given ones; correct the user name or the password file.',
  'git-not-a-repository':
    'What answers at the URL is no Git repository, or it is hidden from these credentials; correct the URL.',
  'git-ref-not-found':
    'The repository has no such branch, tag or commit, no tag in the range, or its server does not hand the commit out; correct it where it is configured.',
  'git-history-missing':
    'The two commits have no common ancestor in this clone, because it lacks a part of the history or because they are unrelated. Fetch the whole history (`fetch-depth: 0` of actions/checkout, `GIT_DEPTH: 0` of GitLab, `git fetch --unshallow`), or name another base.',
  'git-signature-missing':
    'The commit, or the tag that leads to it, is not signed, and `verify` asks for it. The last good commit stays in use.',
  'git-signature-untrusted':
    'The signature is by a key that is none of `verify.keys`. If its owner is to be trusted, add the public key there.',
  'git-signature-invalid':
    'The signature does not fit what is signed, has run out, or is of a sort that is not accepted. The last good commit stays in use.',
  'git-verify-keys-unusable':
    'A file of `verify.keys` or `plans.keys` cannot be read, or holds no public key of a known sort: it takes SSH keys (.pub, allowed_signers), and for commits OpenPGP ones (.asc, .gpg). A private key is none.',
  'plan-signature-missing':
    'Signed plan files are required (`plans`), and there is no FILE.sig beside the file; nothing was applied.',
  'plan-signature-untrusted':
    'The signature beside the file is by a key that is none of `plans.keys`; nothing was applied.',
  'plan-signature-invalid':
    'The signature beside the file does not fit it, was made for another purpose, or is none; nothing was applied.',
  'git-path-not-found': 'The commit has no such file or folder; correct the path where it is configured.',
  'git-too-large': 'The repository or one of its files is larger than the limit; nothing of it was used.',
  'git-unsupported-repository':
    'The repository uses a format that this version does not read, such as SHA-256 object names. Use one with SHA-1 names.',
  'git-protocol-error': 'The server broke off or did not keep to the Git protocol; it is tried again.',
  'git-damaged':
    'An object of the repository is missing or damaged; a local copy is fetched anew, a repository at a file URL wants git fsck.',
  'git-state-locked':
    'Another process uses the local copy of the repository; give each instance its own stateDir, or wait.',
  'git-state-unwritable':
    'The local copy of the repository cannot be written; look at the rights and the space of stateDir.',
  'git-already-exists': 'The folder for a new repository is not empty; choose another one.',
} as const;

export type GitCode = keyof typeof GIT_CODES;
