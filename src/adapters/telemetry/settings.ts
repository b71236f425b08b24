// Computes the resource, attributes and target of telemetry from configuration and environment variables. Pure.

import type { Environment } from '#std/environment.ts';

export interface Collector {
  /** URL without the path of a signal. */
  readonly url: string;
  /** Returns the headers of the next request. Headers may contain secrets that rotate. */
  readonly headers: () => Readonly<Record<string, string>>;
  /** All trusted certificates as PEM. Default: the system's roots. */
  readonly roots: readonly string[] | undefined;
}

export function signalUrl({ url }: Pick<Collector, 'url'>, signal: 'traces' | 'metrics'): string {
  return `${url}/v1/${signal}`;
}

export function exporterOptions(collector: Collector, signal: 'traces' | 'metrics') {
  const { headers, roots } = collector;
  return {
    url: signalUrl(collector, signal),
    headers: () => Promise.resolve({ ...headers() }),
    ...(roots === undefined ? {} : { httpAgentOptions: { keepAlive: true, ca: [...roots] } }),
  };
}

export interface ResourceFacts {
  readonly serviceName: string;
  readonly serviceNamespace: string;
  readonly serviceVersion: string;
  /** Attributes from the configuration, which take precedence over all other attributes. */
  readonly custom: Readonly<Record<string, string>>;
}

/**
 * Returns attributes of the resource. In increasing precedence: namespace and version of the service,
 * OTEL_RESOURCE_ATTRIBUTES, name of the service, configuration.
 */
export function resourceAttributes(facts: ResourceFacts, environment: Environment): Record<string, string> {
  return {
    'service.namespace': facts.serviceNamespace,
    'service.version': facts.serviceVersion,
    ...environmentAttributes(environment.OTEL_RESOURCE_ATTRIBUTES ?? ''),
    'service.name': facts.serviceName,
    ...facts.custom,
  };
}

/**
 * Parses `key=value,key=value` with percent-encoded values (OpenTelemetry, Resource SDK). Parts without a key are
 * dropped.
 */
function environmentAttributes(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const pair of text.split(',')) {
    const equals = pair.indexOf('=');
    const name = pair.slice(0, equals).trim();
    if (equals > 0 && name !== '') attributes[name] = decoded(pair.slice(equals + 1).trim());
  }
  return attributes;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The percent sign is not part of an encoding.
    return text;
  }
}

/** Returns attributes of every span: the values of the configured environment variables that are set. */
export function environmentSpanAttributes(
  names: readonly string[],
  environment: Environment,
): Readonly<Record<string, string>> {
  const attributes: Record<string, string> = {};
  for (const name of names) {
    const value = environment[name];
    if (value !== undefined) attributes[`environment.${name}`] = value;
  }
  return attributes;
}
