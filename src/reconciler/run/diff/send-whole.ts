// Sends objects whose long values are not in memory. The values are in memory only during one request.

import pLimit from 'p-limit';
import { type ReadContents, restoreObject, shortenObject } from '#kubernetes/rules/large-values.ts';
import type { KubeObject } from '#kubernetes/rules/object.ts';

/** Maximum number of such requests at once. Each may need several megabytes: as text, as values and as a body. */
const AT_ONCE = 3;
const turns = pLimit(AT_ONCE);

/** Returns the response of `send` without long values. */
export function sendWhole(
  object: KubeObject,
  contents: ReadContents | undefined,
  send: (whole: KubeObject) => Promise<KubeObject>,
): Promise<KubeObject> {
  if (contents === undefined) return send(object).then(shortenObject);
  return turns(async () => shortenObject(await send(restoreObject(object, await contents()))));
}
