// Defines findings about the registry service's configuration, and a check of URLs that several rules use.

import type { ContractCode } from '../codes.ts';

/** Finding with a JSON pointer into the file. */
export interface ConfigFinding {
  readonly code: ContractCode;
  readonly severity: 'error' | 'warning';
  readonly pointer: string;
  readonly message: string;
}

export function urlFindings(url: string | undefined, pointer: string): readonly ConfigFinding[] {
  if (url === undefined) return [];
  const parsed = URL.parse(url);
  if (parsed === null) return [error('registry-config-url', pointer, 'is not a URL')];
  if (parsed.username !== '' || parsed.password !== '') {
    return [
      error('registry-config-url', pointer, 'must not hold a user name or password; secrets are read from files'),
    ];
  }
  if (parsed.hash !== '') return [error('registry-config-url', pointer, 'must not have a fragment')];
  return [];
}

export function error(code: ContractCode, pointer: string, message: string): ConfigFinding {
  return { code, severity: 'error', pointer, message };
}

export function warning(code: ContractCode, pointer: string, message: string): ConfigFinding {
  return { code, severity: 'warning', pointer, message };
}
