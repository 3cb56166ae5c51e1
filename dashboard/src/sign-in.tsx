import { type JSX, useState } from 'react';
import { client, signIn } from './api/client.ts';
import css from './decide/decide.module.css';
import { classNames } from './ui/class-names.ts';
import { Main } from './ui/main.tsx';
import ui from './ui/ui.module.css';

/** Of a team server. The token is exchanged for a cookie that no script can read. */
export function SignIn(): JSX.Element {
  const [token, setToken] = useState('');
  const [refusal, setRefusal] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (): Promise<void> => {
    setBusy(true);
    try {
      await signIn(token.trim());
      // Everything that was refused is asked for again.
      await client.resetQueries();
    } catch (error) {
      setRefusal(error instanceof Error ? error.message : String(error));
    }
    setBusy(false);
  };
  return (
    <Main>
      <form
        className={classNames(ui.card, css.signIn)}
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <h1>Sign in</h1>
        <p className={ui.soft}>
          With your own token, as <code>stepfast token create NAME --kind person</code> prints it.
        </p>
        <div className={css.field}>
          <label htmlFor="token">Token</label>
          <input
            id="token"
            className={ui.field}
            type="password"
            autoComplete="off"
            spellCheck={false}
            value={token}
            onChange={({ target }) => setToken(target.value)}
          />
        </div>
        {refusal && (
          <p className={css.refusal} role="alert">
            {refusal}
          </p>
        )}
        <button type="submit" className={classNames(ui.btn, ui.primary)} disabled={!token.trim() || isBusy}>
          Sign in
        </button>
      </form>
    </Main>
  );
}
