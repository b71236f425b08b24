// What the reconciler's own listener answers besides data, by stable code.

export const CONTROL_CODES = {
  'control-closed':
    'What was asked for needs a token, and skep.yaml names no `http.tokenFile`: it is shown to nobody. Name a file with a token in it.',
  'control-unauthorized':
    'The request has no token, or one that is not in `http.tokenFile`. Send it as `Authorization: Bearer TOKEN`.',
  'control-token-unreadable':
    'The file that `http.tokenFile` names cannot be read, or is empty, so nobody can be let in. The log has the reason.',
  'control-route-not-found': 'The reconciler has nothing at this path.',
  'control-method-not-allowed': 'The path exists but not with this method; the Allow header names those that it has.',
  'control-request-invalid': 'The request is no valid HTTP for this listener: its path, size or form.',
  'control-failed': 'A fault of the reconciler. The log has the cause under the request id.',
} as const;

export type ControlCode = keyof typeof CONTROL_CODES;
