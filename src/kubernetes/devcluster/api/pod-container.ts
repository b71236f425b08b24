// Selects the container of a pod for a request.

import { isObject, objectsIn } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { badRequest } from './status.ts';

/**
 * Returns the container's name. `asked` is the requested name. If it is empty, the pod must have exactly one container.
 */
export function containerOf(pod: KubeObject, asked: string): string {
  const spec = isObject(pod.spec) ? pod.spec : {};
  const containers = objectsIn(spec.containers).map(({ name }) => name);
  const container = asked === '' && containers.length === 1 ? containers[0] : asked;
  if (typeof container === 'string' && containers.includes(container)) return container;
  const { name } = pod.metadata;
  if (asked === '')
    throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${containers.join(' ')}]`);
  throw badRequest(`container ${asked} is not valid for pod ${name}`);
}

/** Message for requests to `pods/exec`. */
export const NO_EXEC =
  'there is no container to run a command in: pods are processes of this machine; attach and logs show their streams';
