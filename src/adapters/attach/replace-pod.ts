// Deletes a pod that a session has used, so that its StatefulSet creates another one.

import { requestObject } from './object-request.ts';
import type { AttachOptions } from './options.ts';
import { attachRefusal, podPath } from './refusal.ts';

/** Time for the server to end by itself. Its input has ended before the deletion. */
const GRACE_SECONDS = 2;
const GONE = 404;
/** Status if another pod has the name now, because the uid is a precondition. */
const CONFLICT = 409;

/** Throws Failure `attach-refused`, `attach-unreachable`. A pod that does not exist any more is not a failure. */
export async function deletePod(options: AttachOptions, pod: string, uid: string): Promise<void> {
  const body = JSON.stringify({
    ...{ apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds: GRACE_SECONDS, preconditions: { uid } },
  });
  const credentials = await options.credentials();
  const { status, text } = await requestObject(options, podPath(options.namespace, pod), credentials, {
    method: 'DELETE',
    body,
  });
  if (status >= 400 && status !== GONE && status !== CONFLICT) throw attachRefusal(status, text, pod);
}
