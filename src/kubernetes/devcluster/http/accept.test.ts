import { expect, test } from 'vitest';
import { type Form, negotiate } from './accept.ts';

const ALL: readonly Form[] = ['object', 'table', 'partial-object', 'partial-list', 'aggregated-discovery'];

const rows: readonly { header: string; forms: readonly Form[]; expected: string }[] = [
  { header: '', forms: ALL, expected: 'object json' },
  { header: '*/*', forms: ALL, expected: 'object json' },
  { header: 'application/json', forms: ALL, expected: 'object json' },
  { header: 'application/yaml', forms: ALL, expected: 'object yaml' },
  { header: 'application/vnd.kubernetes.protobuf, application/json', forms: ALL, expected: 'object json' },
  { header: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json', forms: ALL, expected: 'table json' },
  { header: 'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json', forms: ALL, expected: 'object json' },
  {
    header: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
    forms: ALL,
    expected: 'partial-list json',
  },
  {
    header: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1, */*',
    forms: ['object'],
    expected: 'object json',
  },
  {
    header: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
    forms: ALL,
    expected: 'aggregated-discovery json',
  },
  {
    header: 'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
    forms: ALL,
    expected: 'object json',
  },
];

test.each(rows)('"$header" wants $expected', ({ header, forms, expected }) => {
  const { form, format } = negotiate(header, forms);
  expect(`${form} ${format}`).toBe(expected);
});

test.each(['application/xml', 'application/vnd.kubernetes.protobuf', 'application/json;as=Cake'])(
  'no supported format satisfies "%s"',
  (header) => {
    expect(() => negotiate(header, ALL)).toThrow(
      expect.objectContaining({ data: expect.objectContaining({ code: 406 }) }),
    );
  },
);
