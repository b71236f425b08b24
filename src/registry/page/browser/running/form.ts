// Creates a form for the JSON Schema of an object, and reads the object. Nested objects are groups of fields, lists of
// texts have one text per line, and values without a suitable field are JSON text.

import { element } from '#std/page/shared/elements.ts';
import { items, type Members, members, text, texts } from '../json.ts';

export interface Form {
  readonly node: HTMLFormElement;
  /** Returns the object. If a value is missing or wrong, shows the fault at its field and returns undefined. */
  readonly read: () => Members | undefined;
  readonly submitted: (act: () => void) => void;
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

interface Field {
  readonly node: HTMLElement;
  /** Returns undefined if the value is left out. Throws an Error whose cause is the control. */
  readonly read: () => unknown;
  /** The first control of the field. */
  readonly control: Control | undefined;
  /** Returns whether the value is unchanged. */
  readonly isUntouched: () => boolean;
}

/** Creates an error about the value of a control. The cause is the control. */
function wrongIn(control: Control | undefined, message: string): Error {
  return new Error(message, { cause: control });
}

/** Groups below this depth are JSON text. */
const DEPTH_MAX = 3;

export function formOf(schema: Members, id: string, ...buttons: readonly HTMLElement[]): Form {
  const group = groupOf(schema, id, true, 0);
  const node = element('form', { class: 'form' }, ...group.nodes, element('div', { class: 'buttons' }, ...buttons));
  return {
    node,
    read() {
      if (!node.reportValidity()) return undefined;
      try {
        return group.read() ?? {};
      } catch (error) {
        if (!(error instanceof Error) || !isControl(error.cause)) throw error;
        complain(error.cause, error.message);
        return undefined;
      }
    },
    submitted(act) {
      node.addEventListener('submit', (event) => {
        event.preventDefault();
        act();
      });
    },
  };
}

/** Shows the message until the reader changes any field, because that change may be the correction. */
function complain(control: Control, message: string): void {
  control.setCustomValidity(message);
  control.form?.addEventListener('input', () => control.setCustomValidity(''), { once: true });
  control.reportValidity();
}

function isControl(value: unknown): value is Control {
  return [HTMLInputElement, HTMLSelectElement, HTMLTextAreaElement].some((each) => value instanceof each);
}

interface Group {
  readonly nodes: readonly HTMLElement[];
  readonly first: Control | undefined;
  /** Returns the object, or undefined if all fields are empty. Throws an Error whose cause is the control. */
  readonly read: () => Members | undefined;
  readonly isUntouched: () => boolean;
}

/** Puts required fields first. Required fields of an optional group may be empty only if the whole group is empty. */
function groupOf(schema: Members, id: string, isRequired: boolean, depth: number): Group {
  const required = new Set(texts(schema.required));
  const fields = Object.entries(members(schema.properties))
    .map(([name, property], index) => {
      const needed = required.has(name);
      // Ids contain numbers instead of names: names may contain spaces, or end like ids of other elements.
      const field = makeField(`${id}-${index}`, { name, property: members(property), needed, isRequired, depth });
      return { name, needed, ...field };
    })
    .sort((a, b) => Number(b.needed) - Number(a.needed));
  const isUntouched = () => fields.every((field) => field.isUntouched());
  return {
    nodes: fields.map(({ node }) => node),
    first: fields[0]?.control,
    isUntouched,
    read() {
      const read = fields.map((field): [string, unknown] => [field.name, field.read()]);
      const values = new Map(read.filter(([, value]) => value !== undefined));
      if (!isRequired && values.size === 0) return undefined;
      const missing = fields.find(({ name, needed }) => needed && !values.has(name));
      // A group with only default values counts as empty.
      if (missing !== undefined && !isRequired && isUntouched()) return undefined;
      if (missing !== undefined) throw wrongIn(missing.control, 'This is needed with the other fields of its group.');
      // An assignment to `__proto__` would not create a member.
      return Object.fromEntries(values);
    },
  };
}

interface FieldPlan {
  readonly name: string;
  readonly property: Members;
  /** True if the enclosing object requires the field. */
  readonly needed: boolean;
  /** True if the enclosing object is required. */
  readonly isRequired: boolean;
  readonly depth: number;
}

function makeField(id: string, { name, property, needed, isRequired, depth }: FieldPlan): Field {
  const title = text(property.title) ?? name;
  const mark = needed ? undefined : ' (optional)';
  const about = element('p', { id: `${id}-about`, class: 'text about' }, text(property.description) ?? '');
  if (property.type === 'object' && Object.keys(members(property.properties)).length > 0 && depth < DEPTH_MAX) {
    const group = groupOf(property, id, needed && isRequired, depth + 1);
    const legend = element('legend', {}, title, mark);
    const node = element('fieldset', { class: 'group', 'aria-describedby': about.id }, legend, about, ...group.nodes);
    return { node, read: group.read, control: group.first, isUntouched: group.isUntouched };
  }
  const { control, read } = controlOf(id, property, needed && isRequired);
  control.setAttribute('aria-describedby', about.id);
  const label = element('label', { for: id }, title, mark);
  const initial = stateOf(control);
  const isUntouched = () => stateOf(control) === initial;
  return { control, read, isUntouched, node: element('div', { class: 'field' }, label, control, about) };
}

function stateOf(control: Control): string {
  return control.type === 'checkbox' && 'checked' in control ? String(control.checked) : control.value;
}

type Filled = { readonly control: Control; readonly read: () => unknown };

function controlOf(id: string, property: Members, required: boolean): Filled {
  const { type, minimum, maximum } = property;
  const choices = choicesOf(property);
  const initial = property.default;
  if (choices.length > 0) return choiceControl(id, choices, initial, required);
  if (type === 'boolean') return booleanControl(id, initial, required);
  if (type === 'integer' || type === 'number') {
    const step = type === 'integer' ? '1' : 'any';
    const limits = { min: scalarText(minimum), max: scalarText(maximum), value: scalarText(initial) };
    const control = element('input', { id, type: 'number', step, required, ...limits });
    return { control, read: () => (control.value === '' ? undefined : control.valueAsNumber) };
  }
  if (type === 'string') return textControl(id, property, required);
  if (type === 'array' && isPlainText(members(property.items))) return linesControl(id, initial, required);
  return jsonControl(id, initial, required);
}

function isPlainText(schema: Members): boolean {
  return schema.type === 'string' && choicesOf(schema).length === 0;
}

function linesControl(id: string, initial: unknown, required: boolean): Filled {
  const control = element('textarea', { id, rows: '3', placeholder: 'one in each line' });
  control.value = texts(initial).join('\n');
  const lines = () => control.value.split('\n').filter((line) => line.trim() !== '');
  return { control, read: () => (lines().length === 0 && !required ? undefined : lines()) };
}

function jsonControl(id: string, initial: unknown, required: boolean): Filled {
  const control = element('textarea', { id, rows: '3', required, placeholder: 'JSON', spellcheck: 'false' });
  if (initial !== undefined) control.value = JSON.stringify(initial);
  return { control, read: () => (control.value.trim() === '' ? undefined : parsed(control)) };
}

/** Checks `pattern` itself, because HTML patterns have another syntax. Texts without a pattern may have many lines. */
function textControl(id: string, property: Members, required: boolean): Filled {
  const { pattern, maxLength } = property;
  const limits = { id, required, maxlength: scalarText(maxLength) };
  const expression = expressionOf(pattern);
  const control =
    expression === undefined
      ? element('textarea', { ...limits, rows: '1' })
      : element('input', { ...limits, type: 'text', autocomplete: 'off' });
  control.value = text(property.default) ?? '';
  return {
    control,
    read() {
      if (control.value === '' && !required) return undefined;
      if (expression?.test(control.value) === false) throw wrongIn(control, `This has to match ${String(pattern)}`);
      return control.value;
    },
  };
}

/**
 * Returns undefined without a pattern, and for a pattern that the browser does not support: only the server can check
 * it.
 */
function expressionOf(pattern: unknown): RegExp | undefined {
  try {
    return text(pattern) === undefined ? undefined : new RegExp(String(pattern), 'u');
  } catch {
    return undefined;
  }
}

/** Creates a checkbox. Until the reader changes it, it has no value, unless the value is required or has a default. */
function booleanControl(id: string, initial: unknown, required: boolean): Filled {
  const control = element('input', { id, type: 'checkbox' });
  control.checked = initial === true;
  let isTouched = required || initial !== undefined;
  control.addEventListener('change', () => {
    isTouched = true;
  });
  return { control, read: () => (isTouched ? control.checked : undefined) };
}

interface Choice {
  readonly value: unknown;
  readonly title: string;
}

function choiceControl(id: string, choices: readonly Choice[], initial: unknown, required: boolean): Filled {
  const none = required ? [] : [element('option', { value: '' }, '')];
  const options = choices.map(({ title }, index) => element('option', { value: String(index) }, title));
  const control = element('select', { id, required }, ...none, ...options);
  const at = choices.findIndex(({ value }) => value === initial);
  if (at !== -1) control.value = String(at);
  return { control, read: () => (control.value === '' ? undefined : choices[Number(control.value)]?.value) };
}

/** Reads choices with titles (`oneOf` or `anyOf` of constants) and without titles (`enum`). */
function choicesOf(property: Members): readonly Choice[] {
  const titled = [...items(property.oneOf), ...items(property.anyOf)].map(members).filter((each) => 'const' in each);
  if (titled.length > 0)
    return titled.map((each) => ({ value: each.const, title: text(each.title) ?? String(each.const) }));
  return items(property.enum).map((value) => ({ value, title: String(value) }));
}

function scalarText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined;
}

function parsed(control: HTMLTextAreaElement): unknown {
  try {
    return JSON.parse(control.value);
  } catch {
    throw wrongIn(control, 'This is not valid JSON.');
  }
}
