import { useQuery } from '@tanstack/react-query';
import { type JSX, useEffect, useState } from 'react';
import { client, signIn, signInQuery } from './api/client.ts';
import css from './decide/decide.module.css';
import { DeviceFlow } from './decide/device-flow.tsx';
import { PassphraseField } from './decide/passphrase.tsx';
import { Refusal, refusalOf } from './decide/refusal.tsx';
import { classNames } from './ui/class-names.ts';
import { Main } from './ui/main.tsx';
import ui from './ui/ui.module.css';

/** Of a team server. The passphrase is exchanged for a cookie that reads, and for what this page decides with. */
export function SignIn(): JSX.Element {
  const { data } = useQuery(signInQuery);
  return <Main>{data?.issuer ? <IssuerSignIn issuer={data.issuer} /> : <PassphraseSignIn />}</Main>;
}

function IssuerSignIn({ issuer }: { issuer: string }): JSX.Element {
  return (
    <div className={classNames(ui.card, css.signIn)}>
      <h1>Sign in</h1>
      <DeviceFlow issuer={issuer} onDone={readAgain} />
    </div>
  );
}

/** Everything that was refused is asked for again. */
const readAgain = (): void => void client.resetQueries();

function PassphraseSignIn(): JSX.Element {
  const [project, setProject] = useState('');
  const [name, setName] = useState('');
  const [passphrase, setPassphrase] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches) document.getElementById('project')?.focus();
  }, []);
  const submit = async (): Promise<void> => {
    setBusy(true);
    setRefusal(undefined);
    try {
      await signIn({ project: project.trim(), name: name.trim(), passphrase });
      readAgain();
    } catch (error) {
      setRefusal(refusalOf(error));
      // Not while another field is being corrected.
      if (!(document.activeElement instanceof HTMLInputElement))
        document.getElementById('passphrase')?.focus();
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
        With the passphrase that you chose at your first <code>stepfast login</code>. If you forgot it, ask
        for a new invitation.
      </p>
      <Line id="project" label="Project" value={project} onChange={setProject} />
      <Line id="name" label="Name" value={name} onChange={setName} />
      <PassphraseField value={passphrase} onChange={setPassphrase} />
      <Refusal text={refusal} />
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
