// Defines the columns of Services, Pods, PersistentVolumeClaims and Events.

import { isObject, type Json, type JsonObject } from '#std/json.ts';
import type { KubeObject } from '../../rules/object.ts';
import { ageOf } from './age.ts';
import { at, cell, listAt, NONE, textAt, textColumn, wide } from './cells.ts';
import type { Column } from './column.ts';

export function externalAddresses(object: KubeObject): string {
  const given = at(object, 'spec.externalIPs');
  const external = Array.isArray(given) ? given.map(String) : [];
  const ingress = listAt(object, 'status.loadBalancer.ingress').map((entry) =>
    String(entry.ip ?? entry.hostname ?? ''),
  );
  switch (textAt(object, 'spec.type')) {
    case 'ExternalName':
      return textAt(object, 'spec.externalName');
    case 'LoadBalancer':
      return [...ingress, ...external].join(',') || '<pending>';
    default:
      return external.join(',') || NONE;
  }
}

export function servicePorts(object: KubeObject): string {
  const ports = listAt(object, 'spec.ports').map(({ port, nodePort, protocol }) => {
    const node = typeof nodePort === 'number' && nodePort > 0 ? `:${nodePort}` : '';
    return `${String(port)}${node}/${String(protocol)}`;
  });
  return ports.join(',') || NONE;
}

export function podColumns(name: Column, age: Column): readonly Column[] {
  const containers = (object: KubeObject) => listAt(object, 'status.containerStatuses');
  return [
    name,
    cell('Ready', (object) => {
      const ready = containers(object).filter((status) => status.ready === true).length;
      return `${ready}/${listAt(object, 'spec.containers').length}`;
    }),
    cell('Status', (object) =>
      object.metadata.deletionTimestamp === undefined ? textAt(object, 'status.phase') : 'Terminating',
    ),
    cell('Restarts', (object) =>
      String(containers(object).reduce((sum, status) => sum + Number(status.restartCount ?? 0), 0)),
    ),
    age,
    wide(cell('IP', (object) => textAt(object, 'status.podIP') || NONE)),
    wide(cell('Node', (object) => textAt(object, 'spec.nodeName') || NONE)),
    wide(cell('Nominated Node', (object) => textAt(object, 'status.nominatedNodeName') || NONE)),
    wide(cell('Readiness Gates', () => NONE)),
  ];
}

const ACCESS_MODES: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

export function claimColumns(name: Column, age: Column): readonly Column[] {
  const isBound = (object: KubeObject) => textAt(object, 'spec.volumeName') !== '';
  return [
    name,
    cell('Status', (object) =>
      object.metadata.deletionTimestamp === undefined ? textAt(object, 'status.phase') : 'Terminating',
    ),
    textColumn('Volume', 'spec.volumeName'),
    cell('Capacity', (object) => (isBound(object) ? textAt(object, 'status.capacity.storage') : '')),
    cell('Access Modes', (object) => (isBound(object) ? accessModes(at(object, 'status.accessModes')) : '')),
    textColumn('StorageClass', 'spec.storageClassName'),
    cell('VolumeAttributesClass', (object) => textAt(object, 'spec.volumeAttributesClassName') || '<unset>'),
    age,
    wide(cell('VolumeMode', (object) => textAt(object, 'spec.volumeMode') || '<unset>')),
  ];
}

function accessModes(modes: Json | undefined): string {
  return (Array.isArray(modes) ? modes : []).map((mode) => ACCESS_MODES[String(mode)] ?? String(mode)).join(',');
}

/** Returns the columns of Events. `events.k8s.io` has other field names than core. */
export function eventColumns(name: Column): readonly Column[] {
  const subject = (object: KubeObject) => at(object, 'involvedObject') ?? at(object, 'regarding');
  const read = (object: KubeObject, ...paths: readonly string[]) =>
    paths.map((path) => textAt(object, path)).find((value) => value !== '') ?? '';
  const firstSeen = (object: KubeObject) => read(object, 'firstTimestamp', 'deprecatedFirstTimestamp', 'eventTime');
  const lastSeen = (object: KubeObject) =>
    read(object, 'series.lastObservedTime', 'lastTimestamp', 'deprecatedLastTimestamp') || firstSeen(object);
  return [
    cell('Last Seen', (object, now) => ageOf(lastSeen(object), now)),
    textColumn('Type', 'type'),
    textColumn('Reason', 'reason'),
    cell('Object', (object) => subjectText(subject(object))),
    wide(cell('Subobject', (object) => textAt(asObject(subject(object)), 'fieldPath'))),
    wide(
      cell('Source', (object) =>
        read(object, 'source.component', 'deprecatedSource.component', 'reportingComponent', 'reportingController'),
      ),
    ),
    cell('Message', (object) => read(object, 'message', 'note').trim()),
    wide(cell('First Seen', (object, now) => ageOf(firstSeen(object), now))),
    wide(cell('Count', (object) => Number(read(object, 'series.count', 'count', 'deprecatedCount') || '1'))),
    wide({ ...name, format: '' }),
  ];
}

function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function subjectText(value: Json | undefined): string {
  const { kind, name } = asObject(value);
  const lower = String(kind ?? '').toLowerCase();
  return typeof name === 'string' && name !== '' ? `${lower}/${name}` : lower;
}
