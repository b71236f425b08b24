// Shows the packages and remotes of a server with their environment variables, headers and arguments.

import { element } from '#std/page/shared/elements.ts';
import type { Entry, Input, Package, Remote } from './entry.ts';

export function runsSection({ packages, remotes }: Entry): HTMLElement | undefined {
  if (packages.length + remotes.length === 0) return undefined;
  const runs = [...remotes.map(remoteBlock), ...packages.map(packageBlock)];
  return element('section', {}, element('h2', {}, packages.length === 0 ? 'Remotes' : 'Packages and remotes'), ...runs);
}

function remoteBlock(remote: Remote): HTMLElement {
  return element(
    'div',
    { class: 'run' },
    element('h3', {}, 'Remote ', element('span', { class: 'mark text' }, remote.type)),
    element('p', {}, element('code', { class: 'text' }, remote.url ?? '')),
    inputs('Headers', remote.headers),
    inputs('Variables of the address', remote.variables),
  );
}

function packageBlock(pkg: Package): HTMLElement {
  const { registryType, identifier, version, transport, environment, runtimeArguments, packageArguments } = pkg;
  return element(
    'div',
    { class: 'run' },
    element(
      'h3',
      {},
      'Package ',
      element('span', { class: 'mark text' }, registryType),
      element('span', { class: 'mark text' }, transport.type),
    ),
    element(
      'p',
      {},
      element('code', { class: 'text' }, identifier),
      version === undefined ? undefined : element('span', { class: 'version text' }, ` ${version}`),
    ),
    transport.url === undefined
      ? undefined
      : element('p', {}, 'Listens at ', element('code', { class: 'text' }, transport.url)),
    inputs('Environment variables', environment),
    inputs('Headers', transport.headers),
    inputs('Arguments of the runtime', runtimeArguments),
    inputs('Arguments', packageArguments),
  );
}

function inputs(caption: string, all: readonly Input[]): HTMLElement | undefined {
  if (all.length === 0) return undefined;
  // Variables in braces within a value are settings too.
  const rows = all
    .flatMap((input) => [input, ...input.variables])
    .map((input) =>
      element(
        'div',
        { class: 'input' },
        element(
          'dt',
          {},
          element('code', { class: 'text' }, input.name === '' ? (input.value ?? '') : input.name),
          ...inputMarks(input),
        ),
        element('dd', { class: 'text' }, input.description ?? '', ...valueNotes(input)),
      ),
    );
  return element('div', {}, element('h4', {}, caption), element('dl', { class: 'inputs' }, ...rows));
}

function inputMarks({ required, secret, value }: Input): readonly HTMLElement[] {
  const need = required ? 'required' : value === undefined ? 'optional' : 'given';
  return [
    element('span', { class: required ? 'mark required' : 'mark' }, need),
    ...(secret ? [element('span', { class: 'mark secret' }, 'secret')] : []),
  ];
}

function valueNotes(input: Input): readonly HTMLElement[] {
  const notes: [string, readonly string[]][] = [
    ['Value', input.value === undefined || input.name === '' ? [] : [input.value]],
    ['Default', input.default === undefined ? [] : [input.default]],
    ['One of', input.choices],
  ];
  return notes
    .filter(([, values]) => values.length > 0)
    .map(([label, values]) =>
      element(
        'span',
        { class: 'note' },
        `${label}: `,
        ...values.flatMap((value, index) => [index === 0 ? '' : ', ', element('code', { class: 'text' }, value)]),
      ),
    );
}
