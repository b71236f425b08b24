// Renders the button of an action, and the dialog in which a reader confirms it: with everything that the action would do
// now, if the reconciler shows that first.

import { type ComponentChildren, h } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type Acting, useActing } from '../acting.ts';
import type { Answer } from '../api.ts';
import { whyNot } from '../session.ts';

interface Action<T> {
  readonly name: string;
  readonly input: object;
  readonly label: string;
  readonly title: string;
  /** Text of the button that acts. */
  readonly confirm: string;
  /** Text after the action. */
  readonly done: string;
  /** True if the action concerns the whole instance. */
  readonly everywhere: boolean;
  /** Renders what the action would do now. If absent, the action has no preview. */
  readonly preview?: (shown: T) => ComponentChildren;
  /** Returns the text of the box that a reader has to tick. */
  readonly tick?: (shown: T) => string;
  /** Explanation in the dialog. */
  readonly lead?: string;
  /** Set if the reader may give a reason. */
  readonly asksReason?: true;
  readonly say: (text: string) => void;
  /** Set if the action deletes or goes back. */
  readonly kind?: 'danger';
}

export function ActionButton<T extends { readonly digest: string }>(action: Action<T>) {
  const acting = useActing();
  const [isOpen, setOpen] = useState(false);
  const id = useId();
  if (acting === undefined) return null;
  const reason = whyNot(acting.session, action.everywhere);
  if (reason !== undefined)
    return [
      h('button', { type: 'button', class: 'act', 'aria-disabled': true, 'aria-describedby': id }, action.label),
      h('span', { id, class: 'unseen' }, reason),
    ];
  return [
    h('button', { type: 'button', class: 'act', onClick: () => setOpen(true) }, action.label),
    isOpen ? h(ActionDialog<T>, { acting, action, close: () => setOpen(false) }) : null,
  ];
}

interface DialogProps<T> {
  readonly acting: Acting;
  readonly action: Action<T>;
  readonly close: () => void;
}

function ActionDialog<T extends { readonly digest: string }>({ acting, action, close }: DialogProps<T>) {
  const { preview, tick, lead, asksReason } = action;
  const id = useId();
  const shown = useShown(acting, action);
  const [reason, setReason] = useState('');
  const { isBusy, fault, carryOut } = useCarryOut(acting, action, close);
  const submit = (event: Event): void => {
    event.preventDefault();
    const confirmed = shown?.ok === true ? { confirmed: shown.body.digest } : {};
    carryOut({ ...action.input, ...(reason === '' ? {} : { reason }), ...confirmed });
  };
  const isReady = preview === undefined || shown?.ok === true;
  return h(
    'dialog',
    { ref: useModal(), class: 'dialog', 'aria-labelledby': id, onClose: close },
    h(
      'form',
      { onSubmit: submit },
      h('h2', { id }, action.title),
      lead === undefined ? null : h('p', { class: 'text' }, lead),
      preview === undefined ? null : h(Preview<T>, { shown, preview }),
      asksReason === undefined ? null : h(ReasonField, { value: reason, set: setReason }),
      tick !== undefined && shown?.ok === true
        ? h('label', { class: 'tick' }, h('input', { type: 'checkbox', required: true }), ` ${tick(shown.body)}`)
        : null,
      fault === undefined ? null : h('p', { class: 'problem text', role: 'alert' }, fault),
      h(
        'div',
        { class: 'buttons' },
        h('button', { type: 'button', onClick: close }, 'Cancel'),
        h('button', { type: 'submit', class: action.kind ?? 'primary', disabled: isBusy || !isReady }, action.confirm),
      ),
    ),
  );
}

/** Opens the dialog above the page: the browser keeps the focus in it, and closes it at Escape. */
function useModal() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return dialog;
}

/** Reads what the action would do now. */
function useShown<T>({ api }: Acting, { name, input, preview }: Action<T>): Answer<T> | undefined {
  const [shown, setShown] = useState<Answer<T>>();
  useEffect(() => {
    let isCurrent = true;
    if (preview !== undefined)
      void api.act<T>(name, { ...input, preview: true }).then((answer) => isCurrent && setShown(answer));
    return () => {
      isCurrent = false;
    };
    // The dialog shows the state at its opening, which is the state that is confirmed.
  }, []);
  return shown;
}

function useCarryOut<T>({ api, reload }: Acting, { name, done, say }: Action<T>, close: () => void) {
  const [isBusy, setBusy] = useState(false);
  const [fault, setFault] = useState<string>();
  async function carryOut(input: object): Promise<void> {
    setBusy(true);
    setFault(undefined);
    const answer = await api.act<object>(name, input);
    setBusy(false);
    // Without a response, the action may have been carried out.
    if (!answer.ok) return setFault(`The reconciler did not confirm the action: ${answer.says}`);
    close();
    say(done);
    reload();
    // The button may be gone with the thing that waited.
    document.querySelector<HTMLElement>('main')?.focus();
  }
  return { isBusy, fault, carryOut: (input: object) => void carryOut(input) };
}

interface PreviewProps<T> {
  readonly shown: Answer<T> | undefined;
  readonly preview: (shown: T) => ComponentChildren;
}

function Preview<T>({ shown, preview }: PreviewProps<T>) {
  if (shown === undefined) return h('p', { class: 'hint', role: 'status' }, 'Finding out what would happen now');
  if (!shown.ok) return h('p', { class: 'problem text', role: 'alert' }, `It cannot be done: ${shown.says}`);
  return preview(shown.body);
}

interface ReasonProps {
  readonly value: string;
  readonly set: (value: string) => void;
}

function ReasonField({ value, set }: ReasonProps) {
  const id = useId();
  const onInput = (event: Event) => set((event.currentTarget as HTMLInputElement).value);
  return [
    h('label', { for: id }, 'Reason, for people who find the instance suspended'),
    h('input', { id, value, maxLength: 500, autocomplete: 'off', onInput }),
  ];
}

interface ExactListProps {
  readonly label: string;
  readonly items: readonly ComponentChildren[];
}

/** Renders a whole list, which scrolls, also by keyboard. */
export function ExactList({ label, items }: ExactListProps) {
  return h(
    'div',
    { class: 'exact', role: 'region', 'aria-label': label, tabIndex: 0 },
    h(
      'ul',
      { class: 'plain', role: 'list' },
      items.map((item) => h('li', { class: 'text' }, item)),
    ),
  );
}
