// Tests the text that the API server stores for a quantity. The expected texts come from reference measurements and
// from the rules of resource.Quantity.

import { expect, test } from 'vitest';
import { storedQuantity } from './quantity.ts';

const ROWS: readonly { value: string | number; stored: string | undefined; reason: string }[] = [
  { value: '1000m', stored: '1', reason: 'ends with three zeros' },
  { value: '1024Mi', stored: '1Gi', reason: 'divisible by 8, so computed again' },
  { value: '1000000000', stored: '1G', reason: 'ends with three zeros' },
  { value: '1e9', stored: '1e9', reason: 'mantissa 1, exponent divisible by 3' },
  { value: '1E3', stored: '1E3', reason: 'a capital E is kept with the text' },
  { value: '1e4', stored: '10e3', reason: 'the exponent is not a multiple of 3' },
  { value: '06', stored: '06', reason: 'leading zeros do not count as digits' },
  { value: '+1', stored: '+1', reason: 'the sign does not count as a digit' },
  { value: '-1', stored: '-1', reason: 'negative quantities are kept too' },
  { value: '-1000', stored: '-1k', reason: 'negative and computed again' },
  { value: '1024', stored: '1024', reason: 'decimal, four digits, no three zeros at the end' },
  { value: '11.332', stored: '11.332', reason: 'three decimals: scale -3' },
  { value: '0.5', stored: '500m', reason: 'digits start with zero' },
  { value: '1.5', stored: '1500m', reason: 'one decimal: scale is not a multiple of 3' },
  { value: '1.500', stored: '1.500', reason: 'three decimals, digits 1500 do not end with three zeros' },
  { value: '2.000', stored: '2', reason: 'digits 2000 end with three zeros' },
  { value: '1.5Gi', stored: '1536Mi', reason: 'whole and at least 1024' },
  { value: '1.1Gi', stored: '1181116006400m', reason: 'not whole in bytes, so decimal' },
  { value: '1000', stored: '1k', reason: 'the largest suffix' },
  { value: '0Gi', stored: '0', reason: 'zero has one spelling' },
  { value: '0.0', stored: '0', reason: 'zero has one spelling' },
  { value: '00', stored: '0', reason: 'zero has one spelling' },
  { value: '0', stored: '0', reason: 'zero as written' },
  { value: '8Ki', stored: '8Ki', reason: 'canonical already' },
  { value: '512Ki', stored: '512Ki', reason: 'canonical already' },
  { value: '1025Mi', stored: '1025Mi', reason: 'not divisible by 8: as written' },
  { value: '0.5Ki', stored: '512', reason: 'below 1024: decimal' },
  { value: '0.9765625Ki', stored: '1k', reason: 'a thousand, below 1024: decimal' },
  { value: '123Ti', stored: '123Ti', reason: 'too long for the fast path, canonical anyway' },
  { value: '3000Pi', stored: '3000Pi', reason: 'peta is never on the fast path' },
  { value: '2048Pi', stored: '2Ei', reason: 'peta is never on the fast path' },
  { value: '1.', stored: '1.', reason: 'a point without decimals is kept' },
  { value: '.5', stored: '500m', reason: 'no digit before the point' },
  { value: ' 1 ', stored: '1', reason: 'white space around it is dropped' },
  { value: 0.5, stored: '500m', reason: 'a JSON number is written as text first' },
  { value: 2, stored: '2', reason: 'a JSON number is written as text first' },
  { value: 1e21, stored: undefined, reason: 'beyond int64' },
  { value: '9223372036854775807', stored: '9223372036854775807', reason: 'the largest int64' },
  { value: '9223372036854775808', stored: undefined, reason: 'beyond int64' },
  { value: '16Ei', stored: undefined, reason: 'beyond int64: the server caps it' },
  { value: '0.0001', stored: undefined, reason: 'finer than a thousandth' },
  { value: '100.5m', stored: undefined, reason: 'finer than a thousandth' },
  { value: '1u', stored: undefined, reason: 'finer than a thousandth' },
  { value: '1000u', stored: '1m', reason: 'exactly a thousandth' },
  { value: '', stored: undefined, reason: 'no quantity' },
  { value: '.', stored: undefined, reason: 'no quantity' },
  { value: '1x', stored: undefined, reason: 'no such suffix' },
  { value: '1Kib', stored: undefined, reason: 'no such suffix' },
  { value: '1K', stored: undefined, reason: 'no such suffix: kilo is a small k' },
  { value: 'one', stored: undefined, reason: 'no quantity' },
  { value: '1e400', stored: undefined, reason: 'beyond int64' },
];

test.each(ROWS)('$value is stored as $stored: $reason', ({ value, stored }) => {
  expect(storedQuantity(value)).toBe(stored);
});

test('a stored text is unchanged when it is stored again', () => {
  for (const { stored } of ROWS) {
    if (stored !== undefined) expect(storedQuantity(stored)).toBe(stored);
  }
});
