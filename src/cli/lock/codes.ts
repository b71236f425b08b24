// The codes of all Failures that `skep lock` raises, with their meanings.

export const LOCK_CODES = {
  'lock-unreadable':
    'The file of a lock cannot be used, or holds something else as well: the message says why. `skep lock` writes the file as a whole, so a lock needs a file of its own.',
  'lock-definition-refused':
    'A definition of the server cannot be locked, since two readers could read it differently, or its text is not known: the message names it. Correct the server, or name it with --url.',
  'lock-not-reported':
    'The cluster does not say what the server offers: its proxy is not held to a lock yet, has not read the lists of the server, or holds another lock than the file. Commit, wait for the sync, or name the server itself with --url.',
} as const;
