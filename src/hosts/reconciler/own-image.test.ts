// Tests how the image of this process is read from its pod.

import { expect, test } from 'vitest';
import { imageOf } from './own-image.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;
const OTHER = `sha256:${'b'.repeat(64)}`;

function pod(image: string, imageID: string | undefined, others: readonly string[] = []) {
  const containers = [...others.map((name) => ({ name, image: 'mesh:1' })), { name: 'skep', image }];
  const ids = containers.map(({ name }) => ({ name, imageID: name === 'skep' ? imageID : `mesh@${OTHER}` }));
  return { spec: { containers }, status: imageID === undefined ? {} : { containerStatuses: ids } };
}

test.each([
  ['a tag', pod('ghcr.io/skep-dev/skep:1.2.3', `ghcr.io/skep-dev/skep@${DIGEST}`), `ghcr.io/skep-dev/skep@${DIGEST}`],
  ['no tag', pod('skep', `docker.io/library/skep@${DIGEST}`), `skep@${DIGEST}`],
  [
    'a registry with a port',
    pod('registry:5000/a/skep:1', `registry:5000/a/skep@${DIGEST}`),
    `registry:5000/a/skep@${DIGEST}`,
  ],
  ['a port and no tag', pod('registry:5000/skep', `registry:5000/skep@${DIGEST}`), `registry:5000/skep@${DIGEST}`],
  ['docker', pod('mirror/skep:1', `docker-pullable://mirror/skep@${DIGEST}`), `mirror/skep@${DIGEST}`],
  ['a digest of its own', pod(`skep:1@${DIGEST}`, `skep@${OTHER}`), `skep:1@${DIGEST}`],
  ['an image that was never pulled', pod('skep:dev', DIGEST), 'skep:dev'],
  ['a container of a mesh beside it', pod('skep:1', `skep@${DIGEST}`, ['proxy']), `skep@${DIGEST}`],
  ['a container that has not been reported yet', pod('skep:1', ''), undefined],
  ['no status yet', pod('skep:1', undefined), undefined],
])('finds the image of a pod with %s', (_what, object, image) => {
  expect(imageOf(object)).toBe(image);
});
