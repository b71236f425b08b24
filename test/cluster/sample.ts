// The sample fleet as a repository of one test run, with what the sample has no example of.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { INSTALL } from './account.ts';

/** The sample fleet in namespaces and in an API group of the run, and what it has no example of. */
export function sampleFleet(
  group: string,
  place: (namespace: string) => string,
  patterns = ['namespaces.yaml', 'docs/*.yaml', 'ops/*.yaml'],
): Record<string, string> {
  const root = join(INSTALL, '../fleet/cluster');
  const texts = globSync(patterns, { cwd: root }).map(
    (file) => [file, readFileSync(join(root, file), 'utf8')] as const,
  );
  const placed = (_: string, before: string, name: string) => `${before}${place(name)}`;
  const own = (text: string) =>
    text
      .replaceAll('toolhive.stacklok.dev', group)
      .replace(/^(\s*namespace: )(\w+)/gm, placed)
      .replace(/^(kind: Namespace\nmetadata:\n {2}name: )(\w+)/gm, placed);
  return Object.fromEntries([...texts, ['more.yaml', MORE] as const].map(([file, text]) => [file, own(text)]));
}

export function gone(files: Readonly<Record<string, string>>): Record<string, undefined> {
  return Object.fromEntries(Object.keys(files).map((file) => [file, undefined]));
}

/** A Secret and a server with a process for each session that reads it, a policy, a registry over a volume claim, and a server that fails for want of its group. */
const MORE = `apiVersion: v1
kind: Secret
metadata:
  name: key
  namespace: docs
stringData: {key: value}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: closed
  namespace: docs
spec:
  podSelector: {}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPRegistry
metadata:
  name: mounted
  namespace: docs
spec:
  registries:
    - name: tools
      pvcRef: {claimName: none, path: registry.json}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: keyed
  namespace: docs
  annotations: {skep.dev/stdio-sharing: perSession}
spec:
  image: registry.example.com/keyed:1.0.0
  transport: stdio
  secrets: [{name: key, key: key, targetEnvName: KEY}]
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: drowsy
  namespace: docs
  annotations: {skep.dev/sleep-after: 15m}
spec:
  image: registry.example.com/drowsy:1.0.0
  transport: stdio
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPServer
metadata:
  name: lost
  namespace: docs
spec:
  image: registry.example.com/lost:1.0.0
  transport: stdio
  groupRef: nobody
`;
