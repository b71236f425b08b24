// Checks pods and pod templates.

import type { JsonObject } from '#std/json.ts';
import type { Cause } from '../../api/status.ts';
import { validateLabels } from '../../api/validate-metadata.ts';
import { isUnset, itemsAt, objectAt } from '../fields.ts';
import { duplicate, forbiddenField, invalidValue, nonNegative, notSupported, oneOf, required } from './cause.ts';
import { validateContainers, validateDescending, validateLabelName } from './container.ts';

/** Checks the `template` of a workload whose pods must have `restartPolicy: Always`. */
export function validateTemplate(template: JsonObject, field: string): Cause[] {
  const spec = objectAt(template, 'spec');
  const labels = objectAt(objectAt(template, 'metadata'), 'labels') as Record<string, string>;
  const causes = [...validateLabels(labels, `${field}.labels`), ...validatePodSpec(spec, `${field}.spec`)];
  const policy = spec.restartPolicy;
  if (policy === undefined || policy === 'Always') return causes;
  return [...causes, notSupported(`${field}.spec.restartPolicy`, policy, ['Always'])];
}

export function validatePodSpec(spec: JsonObject, field: string): Cause[] {
  const volumes = itemsAt(spec, 'volumes');
  const names = new Set(volumes.map((volume) => String(volume.name ?? '')));
  const claims = new Set([...names]);
  const containers = itemsAt(spec, 'containers');
  return [
    ...validateVolumes(volumes, `${field}.volumes`),
    ...(containers.length === 0 ? [required(`${field}.containers`)] : []),
    ...validateContainers(containers, claims, `${field}.containers`),
    ...validateInitContainers(spec, claims, `${field}.initContainers`),
    ...oneOf(`${field}.restartPolicy`, spec.restartPolicy, ['Always', 'OnFailure', 'Never']),
    ...oneOf(`${field}.dnsPolicy`, spec.dnsPolicy, ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    ...nonNegative(`${field}.terminationGracePeriodSeconds`, spec.terminationGracePeriodSeconds),
  ];
}

function validateInitContainers(spec: JsonObject, volumes: ReadonlySet<string>, field: string): Cause[] {
  const regular = new Set(itemsAt(spec, 'containers').map((container) => container.name));
  const init = itemsAt(spec, 'initContainers');
  const shared = init.flatMap((container, index) =>
    regular.has(container.name) ? [duplicate(`${field}[${index}].name`, String(container.name))] : [],
  );
  return [...validateContainers(init, volumes, field), ...shared];
}

function validateVolumes(volumes: readonly JsonObject[], field: string): Cause[] {
  const seen = new Set<string>();
  return volumes.flatMap((volume, index) => {
    const path = `${field}[${index}]`;
    const { name, ...sources } = volume;
    const [, ...more] = Object.keys(sources);
    const causes = more.map((source) => forbiddenField(`${path}.${source}`, 'may not specify more than 1 volume type'));
    causes.push(...validateLabelName(name, `${path}.name`));
    if (seen.has(String(name))) causes.push(duplicate(`${path}.name`, String(name)));
    seen.add(String(name));
    return [...causes, ...validateFiles(volume, path)];
  });
}

function validateFiles(volume: JsonObject, field: string): Cause[] {
  const projected = itemsAt(objectAt(volume, 'projected'), 'sources');
  return [
    ...keyedFiles(volume, field),
    ...projected.flatMap((source, index) => keyedFiles(source, `${field}.projected.sources[${index}]`)),
  ];
}

function keyedFiles(source: JsonObject, field: string): Cause[] {
  return ['configMap', 'secret'].flatMap((kind) =>
    itemsAt(objectAt(source, kind), 'items').flatMap(({ path }, index) => {
      const at = `${field}.${kind}.items[${index}].path`;
      if (isUnset(path)) return [required(at)];
      const causes = validateDescending(path, at);
      if (causes.length > 0 || !String(path).startsWith('..')) return causes;
      return [invalidValue(at, path, "must not start with '..'")];
    }),
  );
}
