import { type JSX, type ReactNode, useId } from 'react';
import { classNames } from '../ui/class-names.ts';
import { modKey } from '../ui/keys.ts';
import { Modal } from '../ui/modal.tsx';
import ui from '../ui/ui.module.css';
import css from './decide.module.css';
import { Refusal } from './refusal.tsx';
import { type Choice, useDecision } from './use-decision.ts';

interface Props {
  run: string;
  title: string;
  /** What happens when it is sent, said before. */
  consequence: string;
  verb: string;
  /** Undefined while something is missing. */
  choice: Choice | undefined;
  done: string;
  isDanger?: boolean;
  onClose(): void;
  children?: ReactNode;
}

export function DecisionDialog(props: Props): JSX.Element {
  const { run, title, consequence, verb, choice, done, isDanger, onClose, children } = props;
  const { isBusy, refusal, send } = useDecision(run);
  const submit = async (): Promise<void> => {
    if (choice && (await send(choice, done))) onClose();
  };
  return (
    <Modal label={title} className={css.dialog} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return;
          event.preventDefault();
          void submit();
        }}
      >
        <h2>{title}</h2>
        {children}
        <p className={css.consequence} role="status">
          {consequence}
        </p>
        <Refusal text={refusal} />
        <footer>
          <button type="button" className={ui.btn} onClick={onClose}>
            Not now
          </button>
          <button
            type="submit"
            className={classNames(ui.btn, ui.keyed, isDanger ? ui.danger : ui.primary)}
            data-key={`${modKey} ↵`}
            disabled={!choice || isBusy}
          >
            {verb}
          </button>
        </footer>
      </form>
    </Modal>
  );
}

/** The first field of a dialog gets the focus. */
export function Words({
  label,
  value,
  onChange,
  isOptional,
}: {
  label: string;
  value: string;
  onChange(text: string): void;
  isOptional?: boolean;
}): JSX.Element {
  const id = useId();
  return (
    <div className={css.field}>
      <label htmlFor={id}>
        {label}
        {isOptional && <span className={ui.muted}> (optional)</span>}
      </label>
      <textarea
        id={id}
        data-first
        rows={3}
        className={ui.field}
        value={value}
        required={!isOptional}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}

export function Options({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange(value: string): void;
}): JSX.Element {
  const id = useId();
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        className={ui.field}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        data-first
      >
        {options.map(([option, name]) => (
          <option key={option} value={option}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
