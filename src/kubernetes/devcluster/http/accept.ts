// Selects the representation of a response from the Accept header (Kubernetes documentation, "API Concepts").

import { notAcceptable } from '../api/status.ts';

export type Form = 'object' | 'table' | 'partial-object' | 'partial-list' | 'aggregated-discovery';

export interface Representation {
  readonly form: Form;
  readonly format: 'json' | 'yaml';
}

const ACCEPTED = ['application/json', 'application/yaml', 'application/json;stream=watch'];

/** Returns the first supported form in the header. Throws a 406 if no form is supported. */
export function negotiate(header: string, forms: readonly Form[]): Representation {
  if (header.trim() === '') return { form: 'object', format: 'json' };
  for (const range of header.split(',')) {
    const accepted = readRange(range);
    if (accepted !== undefined && forms.includes(accepted.form)) return accepted;
  }
  throw notAcceptable(ACCEPTED);
}

function readRange(range: string): Representation | undefined {
  const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
  const format = formatOf(type.toLowerCase());
  if (format === undefined) return undefined;
  const values = new Map(parameters.map((part) => splitParameter(part)));
  const form = formOf(values.get('as'), values.get('g'), values.get('v'));
  return form === undefined ? undefined : { form, format };
}

function splitParameter(part: string): [name: string, value: string] {
  const equals = part.indexOf('=');
  return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
}

function formatOf(type: string): Representation['format'] | undefined {
  if (type === 'application/json' || type === '*/*' || type === 'application/*') return 'json';
  return type === 'application/yaml' ? 'yaml' : undefined;
}

function formOf(as: string | undefined, group: string | undefined, version: string | undefined): Form | undefined {
  if (as === undefined) return 'object';
  if (group === 'apidiscovery.k8s.io')
    return as === 'APIGroupDiscoveryList' && version === 'v2' ? 'aggregated-discovery' : undefined;
  if (group !== 'meta.k8s.io' || version !== 'v1') return undefined;
  if (as === 'Table') return 'table';
  if (as === 'PartialObjectMetadata') return 'partial-object';
  return as === 'PartialObjectMetadataList' ? 'partial-list' : undefined;
}
