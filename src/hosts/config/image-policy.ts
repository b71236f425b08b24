// Converts the settings in `images.verify` to the image policy of a run.

import type { ImagePolicy } from '#reconciler/run/images/policy.ts';
import type { Config } from './config.ts';

/** Returns undefined if the settings verify images in no namespace. */
export function imagePolicyOf({ verify }: Config['images']): ImagePolicy | undefined {
  const { mode, namespaces, pin, rules } = verify;
  const isOff = mode === 'off' && namespaces.every((each) => each.mode === 'off');
  return isOff ? undefined : { mode, namespaces, pin, rules };
}
