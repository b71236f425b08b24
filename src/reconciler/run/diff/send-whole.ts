// Sends objects whose long values are not in memory. The values are read for the duration of one request.

import pLimit from 'p-limit';
import { type ReadContents, restoreObject, shortenObject } from '#kubernetes/rules/large-values.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';

/** Maximum number of such requests at once: each may need several megabytes, as text, as values and as a body. */
const AT_ONCE = 3;
const turns = pLimit(AT_ONCE);

/** Returns the result of `send`, without its long values. */
export function sendWhole(
  object: KubeObject,
  contents: ReadContents | undefined,
  send: (whole: KubeObject) => Promise<KubeObject>,
): Promise<KubeObject> {
  if (contents === undefined) return send(object).then(shortenObject);
  return turns(async () => shortenObject(await send(restoreObject(object, await contents()))));
}
