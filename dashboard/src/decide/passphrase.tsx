import { useQuery } from '@tanstack/react-query';
import { type JSX, useState, useSyncExternalStore } from 'react';
import { overviewQuery, signInQuery, unlock } from '../api/client.ts';
import { classNames } from '../ui/class-names.ts';
import { Modal } from '../ui/modal.tsx';
import ui from '../ui/ui.module.css';
import css from './decide.module.css';
import { DeviceFlow } from './device-flow.tsx';
import { Refusal, refusalOf } from './refusal.tsx';

let asked: ((given: boolean) => void) | undefined;
const listeners = new Set<() => void>();

function setAsked(next: typeof asked): void {
  asked = next;
  for (const listener of listeners) listener();
}

/** On a team server a decision needs a passphrase that was typed in the last minutes. False if it was not given. */
export const askPassphrase = (): Promise<boolean> =>
  new Promise((resolve) => {
    asked?.(false);
    setAsked(resolve);
  });

export function Passphrase(): JSX.Element | null {
  const answer = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => asked,
  );
  if (!answer) return null;
  return (
    <PassphraseDialog
      onEnd={(given) => {
        setAsked(undefined);
        answer(given);
      }}
    />
  );
}

function PassphraseDialog({ onEnd }: { onEnd(given: boolean): void }): JSX.Element {
  const { data: how } = useQuery(signInQuery);
  const { data } = useQuery(overviewQuery);
  const [passphrase, setPassphrase] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setRefusal(undefined);
    try {
      await unlock(passphrase);
      onEnd(true);
    } catch (error) {
      setRefusal(refusalOf(error));
      setBusy(false);
    }
  };
  const later = (
    <button type="button" className={ui.btn} onClick={() => onEnd(false)}>
      Not now
    </button>
  );
  return (
    <Modal label="Passphrase" className={css.dialog} onClose={() => onEnd(false)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h2>Confirm that it is you{data ? `, ${data.me.name}` : ''}</h2>
        {how?.issuer ? (
          <>
            <DeviceFlow issuer={how.issuer} onDone={() => onEnd(true)} />
            <footer>{later}</footer>
          </>
        ) : (
          <>
            <PassphraseField value={passphrase} onChange={setPassphrase} />
            <p className={css.consequence} role="status">
              For five minutes you can decide on this page without being asked again.
            </p>
            <Refusal text={refusal} />
            <footer>
              {later}
              <button
                type="submit"
                className={classNames(ui.btn, ui.primary)}
                disabled={passphrase === '' || isBusy}
              >
                Continue
              </button>
            </footer>
          </>
        )}
      </form>
    </Modal>
  );
}

export const PassphraseField = ({
  value,
  onChange,
}: {
  value: string;
  onChange(text: string): void;
}): JSX.Element => (
  <div className={css.field}>
    <label htmlFor="passphrase">Passphrase</label>
    <input
      id="passphrase"
      data-first
      className={ui.field}
      type="password"
      autoComplete="current-password"
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </div>
);
