// Checks the Kubernetes version against which manifests are to be validated: only the bundled version is supported.

import { KUBERNETES_VERSION } from '#kubernetes/rules/schemas/kinds.ts';
import { Failure } from '#std/failure.ts';

/** Throws Failure `usage` for a version whose schemas are not bundled. */
export function checkKubernetesVersion(asked: string): void {
  const [, minor] = /^v?(\d+\.\d+)(?:\.\d+)?$/.exec(asked) ?? [];
  if (minor === KUBERNETES_VERSION) return;
  const message = `--kubernetes-version ${asked}: only the schemas of Kubernetes ${KUBERNETES_VERSION} are bundled; they are used without the option.`;
  throw new Failure('usage', message);
}
