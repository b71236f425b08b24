// Defines failure codes for attaching to a container.

export const ATTACH_CODES = {
  'attach-refused':
    'The API server refuses to attach to the container: the message repeats its reason. 403: the proxy’s Role needs get and create on pods/attach, and with one process a session also delete on its pods.',
  'attach-unreachable': 'The API server cannot be reached, or its certificate is not trusted; it is tried again.',
  'attach-not-running':
    'The container does not run: its pod is not scheduled, starts, or crashes; kubectl describe pod says why. It is tried again.',
  'scale-refused':
    'The API server refuses to read or to set the number of pods of a server that sleeps: the message repeats its reason. 403: the Role of the proxy needs get and patch on statefulsets/scale of the server, and get on deployments/scale of the proxy; skep renders it with skep.dev/sleep-after.',
} as const;
