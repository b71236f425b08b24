// Deletes a pod that a session has used, so that its StatefulSet creates a new pod.

import { requestObject } from './object-request.ts';
import type { AttachOptions } from './options.ts';
import { attachRefusal, podPath } from './refusal.ts';

/** Seconds in which the MCP server can exit by itself after its input was closed. */
const GRACE_SECONDS = 2;
const GONE = 404;
/** Status if a new pod has the name, because the uid is a precondition. */
const CONFLICT = 409;

/** Throws Failure `attach-refused`, `attach-unreachable`. Does not throw if the pod no longer exists. */
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
