import { useQuery } from '@tanstack/react-query';
import { type JSX, useEffect, useState } from 'react';
import { client, type DeviceCode, redeemDevice, signIn, signInQuery, startDevice } from './api/client.ts';
import css from './decide/decide.module.css';
import { PassphraseField } from './decide/passphrase.tsx';
import { classNames } from './ui/class-names.ts';
import { Main } from './ui/main.tsx';
import ui from './ui/ui.module.css';

/** Of a team server. The passphrase is exchanged for cookies that no script can read. */
export function SignIn(): JSX.Element {
  const { data } = useQuery(signInQuery);
  return <Main>{data?.issuer ? <IssuerSignIn issuer={data.issuer} /> : <PassphraseSignIn />}</Main>;
}

/** The person proves at the issuer who they are, and this page waits for it. */
function IssuerSignIn({ issuer }: { issuer: string }): JSX.Element {
  const [device, setDevice] = useState<DeviceCode>();
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    if (!device) return undefined;
    let timer: ReturnType<typeof setTimeout>;
    const redeem = async (): Promise<void> => {
      try {
        if (await redeemDevice(device)) return await client.resetQueries();
        timer = setTimeout(redeem, device.seconds * 1000);
      } catch (error) {
        setDevice(undefined);
        setRefusal(error instanceof Error ? error.message : String(error));
      }
    };
    timer = setTimeout(redeem, device.seconds * 1000);
    return () => clearTimeout(timer);
  }, [device]);
  const start = async (): Promise<void> => {
    setRefusal(undefined);
    try {
      setDevice(await startDevice());
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <div className={classNames(ui.card, css.signIn)}>
      <h1>Sign in</h1>
      {device ? (
        <>
          <p>
            Open{' '}
            <a href={device.url} target="_blank" rel="noreferrer">
              {device.url}
            </a>{' '}
            and check that it shows this code:
          </p>
          <p className={classNames(ui.mono, css.deviceCode)}>{device.code}</p>
          <p className={ui.soft} role="status">
            Waiting for you there…
          </p>
        </>
      ) : (
        <button type="button" className={classNames(ui.btn, ui.primary)} onClick={() => void start()}>
          Sign in with {new URL(issuer).host}
        </button>
      )}
      {refusal && (
        <p className={css.refusal} role="alert">
          {refusal}
        </p>
      )}
    </div>
  );
}

function PassphraseSignIn(): JSX.Element {
  const [project, setProject] = useState('');
  const [name, setName] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    try {
      await signIn({ project: project.trim(), name: name.trim(), passphrase });
      // Everything that was refused is asked for again.
      await client.resetQueries();
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <form
      className={classNames(ui.card, css.signIn)}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <h1>Sign in</h1>
      <p className={ui.soft}>
        With the passphrase that you chose at your first <code>stepfast login</code>.
      </p>
      <Line id="project" label="Project" value={project} onChange={setProject} />
      <Line id="name" label="Name" value={name} onChange={setName} />
      <PassphraseField value={passphrase} onChange={setPassphrase} />
      {refusal && (
        <p className={css.refusal} role="alert">
          {refusal}
        </p>
      )}
      <button
        type="submit"
        className={classNames(ui.btn, ui.primary)}
        disabled={!project.trim() || !name.trim() || !passphrase || isBusy}
      >
        Sign in
      </button>
    </form>
  );
}

const Line = ({
  id,
  label,
  value,
  onChange,
}: {
  id: 'project' | 'name';
  label: string;
  value: string;
  onChange(text: string): void;
}): JSX.Element => (
  <div className={css.field}>
    <label htmlFor={id}>{label}</label>
    <input
      id={id}
      className={ui.field}
      autoComplete={id === 'name' ? 'username' : 'on'}
      autoCapitalize="off"
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  </div>
);
