// Implements quantities (`500m`, `1Gi`). Source: Kubernetes CEL, "Kubernetes quantity library".

import { approximate, fromWhole, parseQuantity, type Quantity, wholeOf } from '../../formats/quantity.ts';
import { equals } from '../equality.ts';
import { CelQuantity } from '../tagged.ts';
import { fail, type Library } from './library.ts';

const TYPE = 'kubernetes.Quantity';

export const QUANTITY_LIBRARY: Library = {
  types: { [TYPE]: CelQuantity },
  functions: {
    [`quantity(string): ${TYPE}`]: quantityOf,
    'isQuantity(string): bool': (text: string) => parseQuantity(text) !== undefined,
    // Kubernetes declares `sign` as a function, not as a method.
    [`sign(${TYPE}): int`]: ({ value: quantity }: CelQuantity) => sign(quantity.nano),
    [`${TYPE}.isGreaterThan(${TYPE}): bool`]: (a: CelQuantity, b: CelQuantity) => a.value.nano > b.value.nano,
    [`${TYPE}.isLessThan(${TYPE}): bool`]: (a: CelQuantity, b: CelQuantity) => a.value.nano < b.value.nano,
    [`${TYPE}.compareTo(${TYPE}): int`]: (a: CelQuantity, b: CelQuantity) => sign(a.value.nano - b.value.nano),
    [`${TYPE}.asApproximateFloat(): double`]: ({ value: quantity }: CelQuantity) => approximate(quantity),
    [`${TYPE}.asInteger(): int`]: ({ value: quantity }: CelQuantity) =>
      wholeOf(quantity) ?? fail('cannot convert value to integer'),
    [`${TYPE}.isInteger(): bool`]: ({ value: quantity }: CelQuantity) => wholeOf(quantity) !== undefined,
    [`${TYPE}.add(${TYPE}): ${TYPE}`]: (a: CelQuantity, b: CelQuantity) => plus(a, b.value),
    [`${TYPE}.add(int): ${TYPE}`]: (a: CelQuantity, b: bigint) => plus(a, fromWhole(b)),
    [`${TYPE}.sub(${TYPE}): ${TYPE}`]: (a: CelQuantity, b: CelQuantity) => plus(a, negated(b.value)),
    [`${TYPE}.sub(int): ${TYPE}`]: (a: CelQuantity, b: bigint) => plus(a, fromWhole(-b)),
  },
  operators: { [`${TYPE} == ${TYPE}`]: equals },
};

function quantityOf(text: string): CelQuantity {
  const quantity = parseQuantity(text);
  return quantity === undefined ? fail(`"${text}" is not a quantity`) : new CelQuantity(quantity);
}

function plus({ value: quantity }: CelQuantity, other: Quantity): CelQuantity {
  return new CelQuantity({ nano: quantity.nano + other.nano, integral: quantity.integral && other.integral });
}

function negated({ nano, integral }: Quantity): Quantity {
  return { nano: -nano, integral };
}

function sign(value: bigint): bigint {
  return value < 0n ? -1n : value > 0n ? 1n : 0n;
}
