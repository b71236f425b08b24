// Creates an object (POST).

import { readObject } from './body/body.ts';
import { commitNew } from './commit.ts';
import type { ApiContext } from './context.ts';
import { inNamespace } from './metadata.ts';
import { checkNamespaceTakes } from './namespaces.ts';
import { admitBody } from './read-object.ts';
import type { ApiRequest, ObjectAnswer } from './request.ts';
import { apiError } from './status.ts';
import { readWriteOptions } from './write-options.ts';

export function createObject(context: ApiContext, request: ApiRequest): ObjectAnswer {
  const { type } = request;
  const behaviour = context.types.behaviourOf(type);
  const options = readWriteOptions(request, 'CreateOptions');
  const { object, warnings } = admitBody(type, behaviour, readObject(request, type.kind), options);
  const placed = inNamespace(object, type, request.namespace);
  checkNamespaceTakes(context, type, placed);
  if ((placed.metadata.resourceVersion ?? '') !== '') {
    throw apiError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  const created = commitNew(context, { type, behaviour, manager: options.manager, dryRun: options.dryRun }, placed);
  return { shape: 'object', code: 201, object: created, warnings };
}
