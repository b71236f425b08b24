import { expect, test } from 'vitest';
import { createDrifts, type Drifted } from './drifts.ts';

function open() {
  const reported: Drifted[] = [];
  let changes = 0;
  const drifts = createDrifts({
    drifted: (drift) => void reported.push(drift),
    changed: () => {
      changes += 1;
    },
  });
  const offer = (name: string, what: 'agrees' | 'differs' | 'new', text = '{}') =>
    drifts.observed({ list: 'tools', name, what, definition: Buffer.from(text) });
  return { drifts, reported, offer, changes: () => changes };
}

test('new names beyond the maximum number of stored names are not reported again by the next list', () => {
  const { drifts, reported, offer } = open();
  const offerAll = () => {
    for (let count = 0; count < 1500; count += 1) offer(`tool ${count}`, 'new');
  };
  offerAll();
  offerAll();
  expect([drifts.all().length, reported.length]).toEqual([1000, 1000]);
});

test('new names do not hide a reviewed definition that differs', () => {
  const { drifts, offer } = open();
  for (let count = 0; count < 1500; count += 1) offer(`a ${count}`, 'new');
  offer('read', 'differs');
  expect(drifts.all()[0]).toMatchObject({ name: 'read', what: 'differs' });
  for (let count = 1500; count < 3000; count += 1) offer(`a ${count}`, 'new');
  expect(drifts.all()[0]).toMatchObject({ name: 'read', what: 'differs' });
});

test('definitions are stored until their total size reaches the maximum', () => {
  const { drifts, offer } = open();
  const text = JSON.stringify({ description: 'x'.repeat(1_000_000) });
  for (let count = 0; count < 100; count += 1) offer(`tool ${count}`, 'new', text);
  const kept = drifts.all().map(({ definition }) => definition?.length ?? 0);
  expect(kept.reduce((sum, each) => sum + each, 0)).toBeLessThan(20_000_000);
  expect(kept.filter((each) => each > 0).length).toBeGreaterThan(1);
  expect(kept.length).toBe(100);
});

test('a definition that changes with each list is reported once, and the current text is stored', () => {
  const { drifts, reported, offer, changes } = open();
  for (let count = 0; count < 10; count += 1) offer('read', 'differs', `{"count":${count}}`);
  expect([reported.length, changes(), drifts.all()[0]?.definition]).toEqual([1, 10, '{"count":9}']);
});

test('a differing definition in the list of a client is reported without a complete reading, and again after it agreed', () => {
  const { drifts, offer, changes } = open();
  offer('find', 'agrees');
  expect([drifts.isRead(), changes()]).toEqual([false, 0]);
  offer('read', 'differs');
  expect([drifts.isRead(), changes(), drifts.all().length]).toEqual([true, 1, 1]);
  offer('read', 'agrees');
  expect([drifts.isRead(), changes(), drifts.all().length]).toEqual([true, 2, 0]);
});
