// The pods that the fixtures of a kind become, without what their authors add: a pod template of theirs, paths of nodes.

import type { KubeObject } from '#kubernetes/rules/object.ts';
import type { Kind, KindSettings } from '#reconciler/kinds/kind.ts';
import { isObject, type JsonObject } from '#std/json.ts';
import { type Fixture, readFixtures, SETTINGS } from './fixture.ts';

export interface PodOfFixture {
  /** `<fixture>: <kind of the workload>`. */
  readonly name: string;
  readonly metadata: JsonObject;
  readonly spec: JsonObject;
}

export function podsOf(kind: Kind, settings: KindSettings = SETTINGS): readonly PodOfFixture[] {
  const valid = readFixtures(kind).filter(({ name }) => !name.startsWith('invalid-'));
  return valid.flatMap((fixture) =>
    kind.children(plain(fixture), fixture.view, settings).flatMap((child) => podOf(fixture, child)),
  );
}

function plain({ resource }: Fixture) {
  const { podTemplateSpec: _template, volumes: _paths, ...spec } = resource.spec;
  return { ...resource, spec };
}

function podOf({ name }: Fixture, { kind, spec }: KubeObject): readonly PodOfFixture[] {
  const template = isObject(spec) && isObject(spec.template) ? spec.template : {};
  if (!isObject(template.metadata) || !isObject(template.spec)) return [];
  return [{ name: `${name}: ${kind}`, metadata: template.metadata, spec: template.spec }];
}
