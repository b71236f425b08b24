// Performs a routed request, except watches, and renders the result in the requested form.

import type { ApiContext } from '../api/context.ts';
import { createObject } from '../api/create.ts';
import { deleteCollection, deleteOne } from '../api/delete.ts';
import { findObject } from '../api/find.ts';
import { listObjects } from '../api/list.ts';
import { patchObject } from '../api/patch.ts';
import type { ApiAnswer, ApiRequest } from '../api/request.ts';
import { readScale, writeScale } from '../api/scale.ts';
import { methodNotAllowed } from '../api/status.ts';
import { updateObject } from '../api/update.ts';

/** Throws Failures with a Status. */
export function perform(context: ApiContext, request: ApiRequest): ApiAnswer {
  const { scale } = request.type;
  if (request.subresource === 'scale' && scale !== undefined) {
    return request.verb === 'get' ? readScale(context, request, scale) : writeScale(context, request, scale);
  }
  switch (request.verb) {
    case 'get':
      return { shape: 'object', code: 200, object: findObject(context, request) };
    case 'list':
      return listObjects(context, request);
    case 'create':
      return createObject(context, request);
    case 'update':
      return updateObject(context, request);
    case 'patch':
      return patchObject(context, request);
    case 'delete':
      return deleteOne(context, request);
    case 'deletecollection':
      return deleteCollection(context, request);
    case 'watch':
      throw methodNotAllowed();
  }
}
