// Sorts the versions of a group in Kubernetes' order.

const STAGES = ['alpha', 'beta', ''];

/** Compares versions: `v2` before `v1` before `v1beta1` before `v1alpha1`. Other names follow, sorted by name. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [readVersion(a), readVersion(b)];
  if (left === undefined || right === undefined) {
    if (left !== undefined) return -1;
    return right !== undefined ? 1 : a < b ? -1 : 1;
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

function readVersion(text: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v([0-9]+)(?:(alpha|beta)([0-9]+))?$/.exec(text);
  if (match === null) return undefined;
  return { stage: STAGES.indexOf(match[2] ?? ''), major: Number(match[1]), minor: Number(match[3] ?? '0') };
}
