import { expect, test } from 'vitest';
import { parseResourcePath, verbOf } from './route.ts';

const rows: readonly { line: string; means: string }[] = [
  { line: 'GET /api/v1/pods', means: 'list core/v1 pods' },
  { line: 'GET /api/v1/namespaces/n/pods', means: 'list core/v1 pods in n' },
  { line: 'GET /api/v1/namespaces/n/pods?watch=true', means: 'watch core/v1 pods in n' },
  { line: 'GET /api/v1/namespaces/n/pods?watch=false', means: 'list core/v1 pods in n' },
  { line: 'GET /api/v1/namespaces/n/pods/p', means: 'get core/v1 pods in n p' },
  { line: 'GET /api/v1/namespaces', means: 'list core/v1 namespaces' },
  { line: 'DELETE /api/v1/namespaces/n', means: 'delete core/v1 namespaces n' },
  { line: 'PUT /api/v1/namespaces/n/finalize', means: 'update core/v1 namespaces n finalize' },
  { line: 'PATCH /apis/apps/v1/namespaces/n/deployments/d/scale', means: 'patch apps/v1 deployments in n d scale' },
  { line: 'DELETE /apis/apps/v1/namespaces/n/deployments', means: 'deletecollection apps/v1 deployments in n' },
  { line: 'POST /apis/example.dev/v1/namespaces/n/widgets', means: 'create example.dev/v1 widgets in n' },
  { line: 'POST /apis/example.dev/v1/namespaces/n/widgets/w', means: 'nothing' },
  { line: 'PUT /api/v1/namespaces/n/pods', means: 'nothing' },
  { line: 'OPTIONS /api/v1/pods', means: 'nothing' },
  { line: 'GET /api/v1/namespaces/n/pods/a%2Fb', means: 'get core/v1 pods in n a/b' },
  { line: 'GET /api/v1', means: 'no resource' },
  { line: 'GET /apis/apps', means: 'no resource' },
  { line: 'GET /apis/apps/v1/', means: 'no resource' },
  { line: 'GET /api/v1/namespaces/n/pods/p/log/more', means: 'no resource' },
  { line: 'GET /api/v1/pods/%E0%A4%A', means: 'no resource' },
  { line: 'GET /healthz', means: 'no resource' },
];

test.each(rows)('$line: $means', ({ line, means }) => {
  const [method = '', target = ''] = line.split(' ');
  const [path = '', query] = target.split('?');
  const parsed = parseResourcePath(path);
  if (parsed === undefined) return expect('no resource').toBe(means);
  const verb = verbOf(method, parsed, new URLSearchParams(query));
  const { group, version, plural, namespace, name, subresource } = parsed;
  const where = namespace === undefined ? [] : ['in', namespace];
  const words = [verb, `${group || 'core'}/${version}`, plural, ...where, name, subresource];
  expect(verb === undefined ? 'nothing' : words.filter((word) => word !== undefined).join(' ')).toBe(means);
});
