// What `kubectl apply -k` would send of a kustomization of someone's own over manifests/install. Kustomize comes with
// kubectl.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { KubeObject } from '#kubernetes/rules/object.ts';
import { isObject } from '#std/json.ts';
import { documentsIn, INSTALL } from './account.ts';

export const hasKubectl = (() => {
  try {
    return execFileSync('kubectl', ['version', '--client'], { stdio: 'pipe' }).length > 0;
  } catch {
    process.stderr.write('what is rendered of manifests/install is not looked at: put kubectl on PATH\n');
    return false;
  }
})();

/** Files of a folder by name; INSTALL in them is the relative path of manifests/install. */
export type Files = Readonly<Record<string, string>>;

export function rendered(dir: string, files: Files): readonly KubeObject[] {
  for (const [name, text] of Object.entries(files)) {
    const place = join(dir, dirname(name));
    mkdirSync(place, { recursive: true });
    writeFileSync(join(dir, name), text.replaceAll('INSTALL', relative(place, INSTALL)));
  }
  return documentsIn(execFileSync('kubectl', ['kustomize', dir], { encoding: 'utf8', maxBuffer: 16 << 20 }));
}

export interface PodTemplate {
  readonly metadata: { readonly labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: tests look into a pod's spec
  readonly spec: any;
}

/** Of a workload, the pod that it makes. */
export function templateOf({ spec }: KubeObject): PodTemplate | undefined {
  const job = isObject(spec) && isObject(spec.jobTemplate) ? spec.jobTemplate.spec : spec;
  return isObject(job) && isObject(job.template) ? (job.template as unknown as PodTemplate) : undefined;
}
