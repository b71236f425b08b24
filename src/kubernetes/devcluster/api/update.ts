// Replaces an object or its status (PUT).

import { readObject } from './body/body.ts';
import { commitChange, commitNew, type Write } from './commit.ts';
import type { ApiContext } from './context.ts';
import { findIfPresent } from './find.ts';
import { checkPreconditions, inNamespace, withRequestName } from './metadata.ts';
import { checkNamespaceTakes } from './namespaces.ts';
import { admitBody } from './read-object.ts';
import type { ApiRequest, ObjectAnswer } from './request.ts';
import { notFound } from './status.ts';
import { readWriteOptions } from './write-options.ts';

export function updateObject(context: ApiContext, request: ApiRequest): ObjectAnswer {
  const { type, subresource } = request;
  const behaviour = context.types.behaviourOf(type);
  const options = readWriteOptions(request, 'UpdateOptions');
  const { object, warnings } = admitBody(type, behaviour, readObject(request, type.kind), options);
  const next = withRequestName(inNamespace(object, type, request.namespace), request);
  const { manager, dryRun } = options;
  const write: Write = { type, behaviour, manager, dryRun, subresource };
  const old = findIfPresent(context, request);
  if (old === undefined) {
    if (!behaviour.createsOnUpdate || subresource !== undefined) throw notFound(type, request.name ?? '');
    checkNamespaceTakes(context, type, next);
    return { shape: 'object', code: 201, object: commitNew(context, write, next), warnings };
  }
  checkPreconditions(type, next, old, {
    unconditional: behaviour.updatesUnconditionally,
    otherUid: 'conflict',
  });
  return { shape: 'object', code: 200, object: commitChange(context, write, next, old), warnings };
}
