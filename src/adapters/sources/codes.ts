// Defines failure codes of registry sources.

export const SOURCE_CODES = {
  'source-unsupported':
    'A registry source of this type is not read by this process: a volume is read by the service that it is mounted into, all else by the reconciler. Run the other process, or choose another type.',
  'source-not-found':
    'An object that a registry source names does not exist: the file, the key of the ConfigMap, or an API at the endpoint.',
  'source-auth-required':
    'A registry source requires credentials: the Secret with the password lacks the key, or the server answers 401 or 403.',
  'source-answer':
    'The server of a registry source answered with a status without content. Look at the server; the sync is tried again later.',
  'source-too-large':
    'A registry source is larger than the limit of bytes, or of pages of a list. Nothing of it was taken over. Split it, or filter it at its origin.',
  'source-endless': 'The pages of a list lead in a circle. The server that serves it has to be fixed.',
  'source-too-slow':
    'The pages of a list did not all arrive in time, or much content arrived so slowly that other sources had to wait for it. Look at the server; the sync is tried again later.',
  'source-not-text':
    'A registry file is not UTF-8 text but UTF-16, for example, as PowerShell writes it: save it as UTF-8.',
} as const;
