// Finds the object of a request, in the apiVersion of the request.

import type { KubeObject } from '../../rules/object.ts';
import { convertEvent } from '../builtin/events.ts';
import { apiVersionOf, type ResourceType } from '../resources/resource-type.ts';
import type { ApiContext } from './context.ts';
import type { ApiRequest } from './request.ts';
import { notFound } from './status.ts';

const EVENTS = '/events';

/** Throws 404 if the object does not exist. */
export function findObject(context: ApiContext, request: ApiRequest): KubeObject {
  const found = findIfPresent(context, request);
  if (found === undefined) throw notFound(request.type, request.name ?? '');
  return found;
}

export function findIfPresent(context: ApiContext, request: ApiRequest): KubeObject | undefined {
  const { type, namespace = '', name = '' } = request;
  const stored = context.store.get({ collection: type.collection, namespace, name });
  return stored === undefined ? undefined : inVersionOf(type, stored);
}

/**
 * Converts a stored object to the apiVersion of `type`. Only the apiVersion changes, because conversion webhooks are
 * not supported. For Events, fields are renamed.
 */
export function inVersionOf(type: ResourceType, stored: KubeObject): KubeObject {
  const apiVersion = apiVersionOf(type);
  if (stored.apiVersion === apiVersion) return stored;
  return type.collection === EVENTS ? convertEvent(stored, apiVersion) : { ...stored, apiVersion };
}
