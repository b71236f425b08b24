// A form for a JSON Schema of an object, and the object that the reader filled in. What a form has no field for is written
// as JSON.

import { element } from '#std/page/shared/elements.ts';
import { items, type Members, members, text, texts } from '../json.ts';

export interface Form {
  readonly node: HTMLFormElement;
  /** Undefined where something is missing or wrong: the browser has said so beside the field. */
  readonly read: () => Members | undefined;
  readonly submitted: (act: () => void) => void;
}

interface Field {
  readonly node: HTMLElement;
  /** Undefined where it is left out. Throws an Error that says what is wrong. */
  readonly read: () => unknown;
  readonly control: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
}

export function formOf(schema: Members, id: string, ...buttons: readonly HTMLElement[]): Form {
  const required = new Set(texts(schema.required));
  const fields = Object.entries(members(schema.properties)).map(
    ([name, property]) => [name, makeField(`${id}-${name}`, name, members(property), required.has(name))] as const,
  );
  const node = element('form', { class: 'form' }, ...fields.map(([, field]) => field.node), ...buttons);
  return {
    node,
    read() {
      if (!node.reportValidity()) return undefined;
      const values: Record<string, unknown> = {};
      for (const [name, { read, control }] of fields) {
        try {
          const value = read();
          if (value !== undefined) values[name] = value;
        } catch (error) {
          complain(control, error instanceof Error ? error.message : String(error));
          return undefined;
        }
      }
      return values;
    },
    submitted(act) {
      node.addEventListener('submit', (event) => {
        event.preventDefault();
        act();
      });
    },
  };
}

/** Until the reader changes something. */
function complain(control: Field['control'], message: string): void {
  control.setCustomValidity(message);
  control.addEventListener('input', () => control.setCustomValidity(''), { once: true });
  control.reportValidity();
}

function makeField(id: string, name: string, property: Members, required: boolean): Field {
  const { control, read } = controlOf(id, property, required);
  const description = text(property.description);
  control.setAttribute('aria-describedby', `${id}-about`);
  const label = element('label', { for: id }, text(property.title) ?? name, required ? undefined : ' (optional)');
  const about = element('p', { id: `${id}-about`, class: 'text about' }, description ?? '');
  return { control, read, node: element('div', { class: 'field' }, label, control, about) };
}

type Control = Pick<Field, 'control' | 'read'>;

function controlOf(id: string, property: Members, required: boolean): Control {
  const { type, minimum, maximum } = property;
  const choices = choicesOf(property);
  const initial = property.default;
  if (choices.length > 0) return choiceControl(id, choices, initial, required);
  if (type === 'boolean') return booleanControl(id, initial);
  if (type === 'integer' || type === 'number') {
    const step = type === 'integer' ? '1' : 'any';
    const limits = { min: scalarText(minimum), max: scalarText(maximum), value: scalarText(initial) };
    const control = element('input', { id, type: 'number', step, required, ...limits });
    return { control, read: () => (control.value === '' ? undefined : control.valueAsNumber) };
  }
  if (type === 'string') return textControl(id, property, required);
  const control = element('textarea', { id, rows: '3', required, placeholder: 'JSON', spellcheck: 'false' });
  if (initial !== undefined) control.value = JSON.stringify(initial);
  return { control, read: () => (control.value.trim() === '' ? undefined : parsed(control.value)) };
}

/** A pattern is for one line; everything else may be long. The attribute `pattern` has another syntax than JSON Schema. */
function textControl(id: string, property: Members, required: boolean): Control {
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
      if (expression?.test(control.value) === false) throw new Error(`This has to match ${String(pattern)}`);
      return control.value;
    },
  };
}

/** Undefined where there is none that a browser understands: the server checks it anyway. */
function expressionOf(pattern: unknown): RegExp | undefined {
  try {
    return text(pattern) === undefined ? undefined : new RegExp(String(pattern), 'u');
  } catch {
    return undefined;
  }
}

function booleanControl(id: string, initial: unknown): Control {
  const control = element('input', { id, type: 'checkbox' });
  control.checked = initial === true;
  return { control, read: () => control.checked };
}

interface Choice {
  readonly value: unknown;
  readonly title: string;
}

function choiceControl(id: string, choices: readonly Choice[], initial: unknown, required: boolean): Control {
  const none = required ? [] : [element('option', { value: '' }, '')];
  const options = choices.map(({ title }, index) => element('option', { value: String(index) }, title));
  const control = element('select', { id, required }, ...none, ...options);
  const at = choices.findIndex(({ value }) => value === initial);
  if (at !== -1) control.value = String(at);
  return { control, read: () => (control.value === '' ? undefined : choices[Number(control.value)]?.value) };
}

/** With titles (`oneOf` of constants) and without. */
function choicesOf(property: Members): readonly Choice[] {
  const titled = [...items(property.oneOf), ...items(property.anyOf)].map(members).filter((each) => 'const' in each);
  if (titled.length > 0)
    return titled.map((each) => ({ value: each.const, title: text(each.title) ?? String(each.const) }));
  return items(property.enum).map((value) => ({ value, title: String(value) }));
}

function scalarText(value: unknown): string | undefined {
  return typeof value === 'number' ? String(value) : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new Error('This is not valid JSON.');
  }
}
