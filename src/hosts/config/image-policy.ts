// Reads the settings of `images.verify` for runs.

import type { ImagePolicy } from '#reconciler/run/images/policy.ts';
import type { Config } from './config.ts';

/** Returns undefined if images are not verified in any namespace. */
export function imagePolicyOf({ verify }: Config['images']): ImagePolicy | undefined {
  const { mode, namespaces, pin, rules } = verify;
  const isOff = mode === 'off' && namespaces.every((each) => each.mode === 'off');
  return isOff ? undefined : { mode, namespaces, pin, rules };
}
