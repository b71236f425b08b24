// Builds the CEL environment of a Kubernetes API server. The engine implements only the standard language. Source:
// Kubernetes 1.36, "Common Expression Language in Kubernetes".

import type { Environment } from '@marcbachmann/cel-js';
import { CONVERSION_LIBRARY } from './library/conversions.ts';
import { FORMATTING_LIBRARY } from './library/formatting.ts';
import { register } from './library/library.ts';
import { LIST_LIBRARY } from './library/lists.ts';
import { registerMacros } from './library/macros.ts';
import { FORMAT_LIBRARY } from './library/named-formats.ts';
import { NETWORK_LIBRARY } from './library/network.ts';
import { OPTIONAL_LIBRARY } from './library/optionals.ts';
import { QUANTITY_LIBRARY } from './library/quantity.ts';
import { REGEX_LIBRARY } from './library/regex.ts';
import { SEMVER_LIBRARY } from './library/semver.ts';
import { TEXT_LIBRARY } from './library/text.ts';
import { TIME_LIBRARY } from './library/time.ts';
import { celPackage } from './package.ts';

let base: Environment | undefined;

/** Returns a copy to which types and variables can be added. The original is built once, because building is slow. */
export function kubernetesEnvironment(): Environment {
  base ??= makeBase();
  return base.clone();
}

function makeBase(): Environment {
  // Replaces the engine's check of literals with mixed types by our own check, which allows mixed arguments of
  // `format`.
  const { Environment } = celPackage();
  const environment = new Environment({ enableOptionalTypes: true, homogeneousAggregateLiterals: false });
  for (const library of [
    TIME_LIBRARY,
    NETWORK_LIBRARY,
    CONVERSION_LIBRARY,
    TEXT_LIBRARY,
    REGEX_LIBRARY,
    LIST_LIBRARY,
    QUANTITY_LIBRARY,
    SEMVER_LIBRARY,
    FORMAT_LIBRARY,
    FORMATTING_LIBRARY,
    OPTIONAL_LIBRARY,
  ]) {
    register(environment, library);
  }
  registerMacros(environment);
  return environment;
}
