// Renders the commands of kubectl that show more of one resource: the live object, its events, and the logs of its pods.

import { h } from 'preact';
import { quoteWord } from '#std/page/shared/shell-word.ts';
import type { FleetEntry } from '../../../../run/fleet-state/format.ts';
import { CommandText } from '../command.ts';
import type { ResourceDetail } from './resource-format.ts';

interface Props {
  readonly entry: Pick<FleetEntry, 'kind' | 'namespace' | 'name'>;
  readonly detail: Pick<ResourceDetail, 'apiVersion' | 'objects'>;
}

export function Commands({ entry, detail }: Props) {
  const commands = kubectlCommands(entry, detail);
  return h(
    'section',
    null,
    h('h2', null, 'In a terminal'),
    h(
      'ul',
      { class: 'plain', role: 'list' },
      commands.map((text) => h('li', { key: text }, h(CommandText, { text }))),
    ),
  );
}

function kubectlCommands({ kind, namespace, name }: Props['entry'], { apiVersion, objects }: Props['detail']) {
  const [group] = apiVersion.includes('/') ? apiVersion.split('/') : [];
  const type = group === undefined ? kind.toLowerCase() : `${kind.toLowerCase()}.${group}`;
  const kubectl = namespace === undefined ? 'kubectl' : `kubectl -n ${quoteWord(namespace)}`;
  const workloads = objects.flatMap(({ id, pods = [] }) =>
    pods.length === 0 ? [] : id.split('/').slice(-2).join('/'),
  );
  return [
    `${kubectl} get ${quoteWord(type)} ${quoteWord(name)} -o yaml`,
    `${kubectl} describe ${quoteWord(type)} ${quoteWord(name)}`,
    ...workloads.map((workload) => `${kubectl} logs ${quoteWord(workload.toLowerCase())} --all-containers --tail 100`),
  ];
}
