// Validates the common metadata of objects: names, labels, annotations, owners.

import type { KubeObject } from '../../rules/object.ts';
import type { Cause } from './status.ts';

/** Formats of names: RFC 1123 subdomain, RFC 1123 label, RFC 1035 label, or any path segment. */
export type NameForm = 'subdomain' | 'label' | 'rfc1035' | 'segment';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const RFC1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const LABEL_VALUE = `(${QUALIFIED})?`;

const ANNOTATIONS_LIMIT = 256 * 1024;

export function validateMetadata(object: KubeObject, form: NameForm): Cause[] {
  const { name, labels, annotations } = object.metadata;
  return [
    ...validateName(name, form, 'metadata.name'),
    ...validateLabels(labels ?? {}, 'metadata.labels'),
    ...validateAnnotations(annotations ?? {}),
    ...validateOwners(object),
    ...validateFinalizerNames(object),
  ];
}

function validateName(name: string | undefined, form: NameForm, field: string): Cause[] {
  if (name === undefined || name === '') {
    return [{ reason: 'FieldValueRequired', message: 'Required value: name or generateName is required', field }];
  }
  return nameComplaints(name, form).map((why) => invalidValue(field, name, why));
}

/** Returns the faults of a name. Empty if the name has the format. */
export function nameComplaints(name: string, form: NameForm): string[] {
  switch (form) {
    case 'subdomain':
      return complaints(name, 253, SUBDOMAIN, SUBDOMAIN_TEXT);
    case 'label':
      // If the name is a valid subdomain, the message explains that a label has no dots.
      return complaints(name, 63, LABEL, matchesWhole(name, SUBDOMAIN) ? 'must not contain dots' : LABEL_TEXT);
    case 'rfc1035':
      return complaints(name, 63, RFC1035, RFC1035_TEXT);
    case 'segment':
      return segmentComplaints(name);
  }
}

function segmentComplaints(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

function complaints(text: string, limit: number, pattern: string, explanation: string): string[] {
  const long = text.length > limit ? [`must be no more than ${limit} bytes`] : [];
  return matchesWhole(text, pattern) ? long : [...long, explanation];
}

function matchesWhole(text: string, pattern: string): boolean {
  return new RegExp(`^${pattern}$`).test(text);
}

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and " +
  `end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${SUBDOMAIN}')`;

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with " +
  `an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '${LABEL}')`;

const RFC1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and " +
  `end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '${RFC1035}')`;

const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
  "with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is " +
  `'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`;

const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric " +
  `character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '${QUALIFIED}')`;

function invalidValue(field: string, value: string, why: string): Cause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(value)}: ${why}`, field };
}

export function validateLabels(labels: Readonly<Record<string, string>>, field: string): Cause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameComplaints(key, 'a valid label key').map((why) => invalidValue(field, key, why)),
    ...labelValueComplaints(value).map((why) => invalidValue(field, value, why)),
  ]);
}

export function labelValueComplaints(value: string): string[] {
  return complaints(value, 63, LABEL_VALUE, LABEL_VALUE_TEXT);
}

/** Checks `[prefix/]name`, the format of label keys, annotation keys and finalizers. */
export function qualifiedNameComplaints(key: string, called = 'a qualified name'): string[] {
  const parts = key.split('/');
  if (parts.length > 2) {
    const form = QUALIFIED_TEXT.slice('name part '.length);
    return [`${called} ${form} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  const prefix = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const found: string[] = [];
  if (prefix === '') found.push('prefix part must be non-empty');
  else if (prefix !== undefined) found.push(...complaints(prefix, 253, SUBDOMAIN, `prefix part ${SUBDOMAIN_TEXT}`));
  if (name === '') found.push('name part must be non-empty');
  return [...found, ...complaints(name, 63, QUALIFIED, QUALIFIED_TEXT)];
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): Cause[] {
  const field = 'metadata.annotations';
  const causes = Object.keys(annotations).flatMap((key) =>
    qualifiedNameComplaints(key.toLowerCase()).map((why) => invalidValue(field, key, why)),
  );
  const size = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + key.length + Buffer.byteLength(value),
    0,
  );
  if (size <= ANNOTATIONS_LIMIT) return causes;
  const message = `Too long: may not be more than ${ANNOTATIONS_LIMIT} bytes`;
  return [...causes, { reason: 'FieldValueTooLong', message, field }];
}

function validateOwners(object: KubeObject): Cause[] {
  const owners = object.metadata.ownerReferences ?? [];
  const field = 'metadata.ownerReferences';
  const causes = owners.flatMap((owner) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((key) => (owner[key] ?? '') === '')
      .map((key): Cause => {
        const called = { apiVersion: 'version ', kind: 'kind ', name: 'name ', uid: '' }[key];
        const message = `Invalid value: "": ${called}must not be empty`;
        return { reason: 'FieldValueInvalid', message, field: `${field}.${key}` };
      }),
  );
  const controllers = owners.filter((owner) => owner.controller === true);
  const [first, second] = controllers;
  if (first === undefined || second === undefined) return causes;
  const why = `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`;
  return [
    ...causes,
    { reason: 'FieldValueInvalid', message: `Invalid value: ${JSON.stringify(owners)}: ${why}`, field },
  ];
}

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];
const UNQUALIFIED_TEXT = 'name is neither a standard finalizer name nor is it fully qualified';

function validateFinalizerNames(object: KubeObject): Cause[] {
  const finalizers = object.metadata.finalizers ?? [];
  const field = 'metadata.finalizers';
  const causes = finalizers.flatMap((finalizer, index) => [
    ...qualifiedNameComplaints(finalizer).map((why) => invalidValue(field, finalizer, why)),
    ...(finalizer.includes('/') || STANDARD_FINALIZERS.includes(finalizer)
      ? []
      : [invalidValue(`${field}[${index}]`, finalizer, UNQUALIFIED_TEXT)]),
  ]);
  if (!finalizers.includes('orphan') || !finalizers.includes('foregroundDeletion')) return causes;
  return [...causes, invalidValue(field, finalizers.join(','), 'orphan and foregroundDeletion cannot both be set')];
}
