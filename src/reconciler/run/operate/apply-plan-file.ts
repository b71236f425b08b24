// Applies a plan file with an ordinary run that makes only the changes in the file. The sources in `deps` read the
// commits that the file names.

import type { DigestKey } from '../desire/digest-key.ts';
import { fingerprintsBy } from '../diff/fingerprints.ts';
import { fieldManager } from '../labels.ts';
import { admitPlanned } from '../plan-file/admission.ts';
import { checkBinding, checkRollback } from '../plan-file/binding.ts';
import type { PlanFile } from '../plan-file/format.ts';
import type { PlanBinding } from '../plan-file/plan-file.ts';
import type { RunResult } from '../result.ts';
import { type RunDeps, type RunOptions, reconcile } from '../run.ts';

/**
 * Applies the plan file. Throws Failure `plan-foreign`, `plan-mismatch` or `plan-rolled-back` before any change, and
 * the failures of `reconcile`.
 */
export async function applyPlanFile(
  deps: RunDeps,
  options: RunOptions,
  file: PlanFile,
  here: PlanBinding,
): Promise<RunResult> {
  checkBinding(file, here);
  if (file.sealed && deps.digestKey.known() === undefined) await deps.digestKey.find();
  const digestKey = file.sealed ? deps.digestKey : concealed(deps.digestKey);
  const key = file.sealed ? deps.digestKey.known() : undefined;
  const admit = admitPlanned(file, fingerprintsBy(fieldManager(options.instance), key));
  // A person who approves the plan also approves its commits, and the registries that the commits declare.
  const own = { ...options, admit, registriesAs: 'declared' } as const;
  return reconcile({ ...deps, digestKey }, { ...own, fits: (quarantine) => checkRollback(file, quarantine) });
}

/**
 * Hides the key while the run compares its changes with a plan that was created without the key. After the comparison,
 * the admitted changes are rendered with the key.
 */
function concealed(key: DigestKey): DigestKey {
  let opened = false;
  return {
    known: () => (opened ? key.known() : undefined),
    find: async () => undefined,
    async make(random) {
      await key.find();
      if (key.known() === undefined) await key.make(random);
      opened = true;
    },
  };
}
