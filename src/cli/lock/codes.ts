// Lists the codes of the Failures of `skep lock`, with their meanings.

export const LOCK_CODES = {
  'lock-unreadable':
    'The file of a lock cannot be used, or contains other objects as well: the message says why. `skep lock` overwrites the whole file, so a lock needs its own file.',
  'lock-definition-refused':
    'A definition of the server cannot be locked, because two readers could read it differently, or its text is unknown: the message names it. Correct the server, or name it with --url.',
  'lock-not-reported':
    'The cluster does not report the definitions of the server: its proxy has no lock yet, has not read the lists of the server, or has another lock than the file. Commit, wait for the sync, or name the server itself with --url.',
} as const;
