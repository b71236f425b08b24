// Reads the objects of a document that SOPS has encrypted. If the key is missing, only the unencrypted values are read.

import { isObject, type Json } from '#std/json.ts';
import type { Problem } from '#std/problem.ts';
import type { Opening, SopsFault } from '#std/sops/open.ts';
import { writtenAt } from '#std/sops/replace.ts';
import type { ReadDocument } from '#std/yaml/yaml.ts';
import { type ParsedObject, refusedObject } from './parsed-object.ts';
import { unroll } from './unroll.ts';

interface OpenedObjects {
  readonly objects: readonly ParsedObject[];
  /** Problems without the field `resource`. */
  readonly problems: readonly Problem[];
  /** True if it is unknown which objects the document declares. */
  readonly unreadable: boolean;
}

/** Pointers to the fields that identify an object. */
const IDENTITY = /^(?:\/items\/\d+)*\/(?:apiVersion|kind|metadata\/(?:name|namespace))$/;

const NOT_CHECKED =
  'The identity of this document is encrypted too, so nothing can be checked without the key: encrypt values only, with --encrypted-regex.';

const OUTSIDE_SECRET =
  'Only Secrets may have encrypted values: everything else has them in the clear, for all who may read it. Put them into a Secret, and refer to that.';

export function openedObjects(opening: Opening, document: number, { place }: ReadDocument): OpenedObjects {
  const { value, open, sealed, comments, fault } = opening;
  function problemAt(
    pointer: string,
    { code, message, pointer: at }: SopsFault,
    severity: Problem['severity'],
  ): Problem {
    return { code, severity, message, pointer, place: place(at, at === '/sops' ? 'key' : 'value') };
  }
  if (!open && sealed.some((pointer) => IDENTITY.test(pointer))) {
    const [reported, severity] = fault === undefined ? [notChecked(), 'warning' as const] : [fault, 'error' as const];
    return { objects: [], problems: [problemAt(reported.pointer, reported, severity)], unreadable: true };
  }
  const problems: Problem[] = [];
  const objects = unroll(value).map((object): ParsedObject => {
    const own = sealed.filter((pointer) => isWithin(pointer, object.pointer));
    const refusal = fault ?? outsideSecret(object.value, own, comments);
    if (refusal === undefined) return { document, ...object };
    // If the fault is elsewhere in the document, the problem is reported at the object.
    const pointer = isWithin(refusal.pointer, object.pointer) ? refusal.pointer : object.pointer;
    problems.push(problemAt(pointer, refusal, 'error'));
    return refusedObject({ document, ...object });
  });
  return { objects, problems, unreadable: false };
}

function notChecked(): SopsFault {
  return { code: 'sops-not-checked', message: NOT_CHECKED, pointer: '/sops' };
}

function isWithin(pointer: string, outer: string): boolean {
  return pointer.startsWith(`${outer}/`);
}

/**
 * Returns a fault if a value outside a Secret is encrypted. In the cluster and in reports, its plain text would be
 * visible to all readers of the object.
 */
function outsideSecret(value: Json, sealed: readonly string[], comments: readonly string[]): SopsFault | undefined {
  const [first] = sealed;
  if (first === undefined || !isObject(value)) return undefined;
  const { apiVersion, kind } = value;
  if (typeof kind !== 'string' || (apiVersion === 'v1' && kind === 'Secret')) return undefined;
  return { code: 'sops-outside-secret', message: OUTSIDE_SECRET, pointer: writtenAt(first, comments) };
}
