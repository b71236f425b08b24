// Converts Events between core/v1 and events.k8s.io/v1, which name some fields differently.

import type { JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';

const CORE_VERSION = 'v1';
const NEWER_VERSION = 'events.k8s.io/v1';

/** Field names in core/v1 and events.k8s.io/v1. Fields that are not listed have equal names. */
const NAMES: readonly (readonly [core: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
];

const TO_NEWER = new Map(NAMES);
const TO_CORE = new Map(NAMES.map(([core, newer]) => [newer, core]));

/** Empty values of the fields that an apiVersion always contains. */
const ALWAYS: Readonly<Record<string, JsonObject>> = {
  [CORE_VERSION]: {
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    eventTime: null,
    reportingComponent: '',
    reportingInstance: '',
  },
  [NEWER_VERSION]: {
    eventTime: null,
    regarding: {},
    deprecatedSource: {},
    deprecatedFirstTimestamp: null,
    deprecatedLastTimestamp: null,
  },
};

const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  [CORE_VERSION]: [],
  [NEWER_VERSION]: ['reportingController', 'reportingInstance'],
};

/** Returns the event with the field names of `apiVersion`. */
export function convertEvent(event: KubeObject, apiVersion: string): KubeObject {
  const names = apiVersion === NEWER_VERSION ? TO_NEWER : TO_CORE;
  const renamed = Object.entries(event).map(([key, value]) => [names.get(key) ?? key, value] as const);
  const leftOut = LEFT_OUT[apiVersion] ?? [];
  const kept = renamed.filter(([key, value]) => value !== '' || !leftOut.includes(key));
  return { ...ALWAYS[apiVersion], ...Object.fromEntries(kept), apiVersion } as KubeObject;
}
