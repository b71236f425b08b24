// Defines failure codes of notifications.

export const NOTIFY_CODES = {
  'notify-failed':
    'A receiver could not be notified of a run: `notify` in skep.yaml names the receiver. It is tried again after a minute, then less and less often; the run is done all the same.',
} as const;
