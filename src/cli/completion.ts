// Generates completion scripts for shells: subcommands, options, and values of options. Any other word is completed as
// a file name.

import type { Command, Option } from 'commander';

/** A command. `path` are its words, such as `vmcp serve`. The path is empty for the program itself. */
interface CommandEntry {
  readonly path: string;
  readonly description: string;
  readonly commands: readonly NameWithDescription[];
  readonly options: readonly Option[];
  /** Allowed values of the command's argument. */
  readonly words: readonly string[];
}

interface NameWithDescription {
  readonly name: string;
  readonly description: string;
}

export const COMPLETIONS = {
  bash: (program: Command) => forBash(commandEntries(program, '')),
  zsh: (program: Command) => forZsh(commandEntries(program, '')),
  fish: (program: Command) => forFish(commandEntries(program, '')),
};

function commandEntries(command: Command, path: string): readonly CommandEntry[] {
  const below = command.createHelp().visibleCommands(command);
  const commands = below.map((each) => ({ name: each.name(), description: each.description() }));
  const options = command.createHelp().visibleOptions(command);
  const words = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const own = { path, description: command.description(), commands, options, words };
  return [own, ...command.commands.flatMap((each) => commandEntries(each, `${path} ${each.name()}`.trim()))];
}

function wordsOf({ commands, options, words }: CommandEntry): string {
  return [...commands.map(({ name }) => name), ...words, ...options.flatMap(({ long }) => long ?? [])].join(' ');
}

interface Choice {
  /** Words before the value, such as `plan --output`. */
  readonly after: string;
  readonly values: readonly string[];
}

function choicesOf({ path, options }: CommandEntry): readonly Choice[] {
  return options.flatMap(({ long, short, argChoices: values = [] }) => {
    if (values.length === 0) return [];
    return [long, short].flatMap((flag) => (flag == null ? [] : [{ after: `${path} ${flag}`.trim(), values }]));
  });
}

/** Returns the cases of a bash or zsh script, by the typed command and by the word before the cursor. */
function casesOf(entries: readonly CommandEntry[], reply: (words: string) => string): readonly string[] {
  const nested = entries.filter(({ path }) => path.includes(' ')).map(({ path }) => `"${path}"`);
  return [
    '  case "$first $second" in',
    `    ${nested.join('|')}) command="$first $second" ;;`,
    '    *) command="$first" ;;',
    '  esac',
    '  case "$command $before" in',
    ...entries.flatMap(choicesOf).map(({ after, values }) => `    "${after}") ${reply(values.join(' '))}; return ;;`),
    '  esac',
    '  case "$command" in',
    ...entries.map((entry) => `    "${entry.path}") ${reply(wordsOf(entry))} ;;`),
    '  esac',
  ];
}

function forBash(entries: readonly CommandEntry[]): string {
  return lines([
    '# Completion for bash. For every shell: source <(skep completion bash) in ~/.bashrc',
    '_skep() {',
    '  local word="$' +
      '{COMP_WORDS[COMP_CWORD]}" before="$' +
      '{COMP_WORDS[COMP_CWORD-1]}" first="" second="" command',
    '  [ "$COMP_CWORD" -gt 1 ] && first="$' + '{COMP_WORDS[1]}"',
    '  [ "$COMP_CWORD" -gt 2 ] && second="$' + '{COMP_WORDS[2]}"',
    ...casesOf(entries, (words) => `COMPREPLY=($(compgen -W "${words}" -- "$word"))`),
    '}',
    'complete -o default -F _skep skep ./skep',
  ]);
}

function forZsh(entries: readonly CommandEntry[]): string {
  return lines([
    '#compdef skep ./skep',
    '# Completion for zsh. For every shell: source <(skep completion zsh) in ~/.zshrc, after compinit',
    '_skep() {',
    '  local before="$words[CURRENT-1]" first="" second="" command',
    '  (( CURRENT > 2 )) && first="$words[2]"',
    '  (( CURRENT > 3 )) && second="$words[3]"',
    ...casesOf(entries, (words) => `compadd -- ${words}`),
    '  _files',
    '}',
    'compdef _skep skep ./skep',
  ]);
}

function forFish(entries: readonly CommandEntry[]): string {
  return lines([
    '# Completion for fish: skep completion fish > ~/.config/fish/completions/skep.fish',
    ...entries.flatMap(({ path, commands, options, words }) => {
      const [first = '', second] = path.split(' ');
      const seen = (name: string) => `__fish_seen_subcommand_from ${name}`;
      const within = second === undefined ? seen(first) : `${seen(first)}; and ${seen(second)}`;
      const when = `complete -c skep -n '${path === '' ? '__fish_use_subcommand' : within}'`;
      return [
        ...commands.map(({ name, description }) => `${when} -f -a ${name} -d ${quote(description)}`),
        ...words.map((word) => `${when} -f -a ${word}`),
        ...options.map((option) => `${when}${fishOption(option)} -d ${quote(option.description)}`),
      ];
    }),
  ]);
}

function fishOption({ long, short, required, optional, argChoices = [] }: Option): string {
  const flags = [long == null ? '' : ` -l ${long.slice(2)}`, short == null ? '' : ` -s ${short.slice(1)}`].join('');
  if (argChoices.length > 0) return `${flags} -x -a '${argChoices.join(' ')}'`;
  return required || optional ? `${flags} -r` : flags;
}

function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
}

function lines(all: readonly string[]): string {
  return all.map((line) => `${line}\n`).join('');
}
