// Combines shares of Shamir's secret sharing over GF(2^8) with the AES polynomial, as HashiCorp Vault and SOPS do. A
// share has one byte per byte of the secret, followed by its x value.

/** Returns undefined for fewer than two shares, and for shares with different lengths or equal x values. */
export function combineShares(shares: readonly Uint8Array[]): Uint8Array | undefined {
  const length = shares[0]?.length ?? 0;
  if (shares.length < 2 || length < 2 || shares.some((share) => share.length !== length)) return undefined;
  const xs = shares.map((share) => share[length - 1] ?? 0);
  if (new Set(xs).size !== xs.length || xs.includes(0)) return undefined;
  const bases = xs.map((x, index) => basisAtZero(x, xs.toSpliced(index, 1)));
  return Uint8Array.from({ length: length - 1 }, (_, at) =>
    shares.reduce((sum, share, index) => sum ^ multiply(share[at] ?? 0, bases[index] ?? 0), 0),
  );
}

/** Returns Lagrange's basis polynomial of `x` at 0. In this field, subtraction equals addition. */
function basisAtZero(x: number, others: readonly number[]): number {
  return others.reduce((basis, other) => multiply(basis, multiply(other, inverse(x ^ other))), 1);
}

/** Returns a^254, the inverse: the group of nonzero elements has 255 elements. */
function inverse(a: number): number {
  let power = 1;
  for (let step = 0; step < 254; step++) power = multiply(power, a);
  return power;
}

function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = ((product << 1) & 0xff) ^ (product & 0x80 ? 0x1b : 0) ^ ((b >> bit) & 1 ? a : 0);
  }
  return product;
}
