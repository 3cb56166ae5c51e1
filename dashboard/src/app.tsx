import { useQuery } from '@tanstack/react-query';
import { LogOut, Search } from 'lucide-react';
import { type JSX, Suspense, useEffect, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';
import { ApiError, overviewQuery, signOut } from './api/client.ts';
import { openStream, useConnection } from './api/stream.ts';
import css from './app.module.css';
import { Passphrase } from './decide/passphrase.tsx';
import { SignIn } from './sign-in.tsx';
import { toggleTheme } from './theme.ts';
import { ThemeButton } from './theme-button.tsx';
import { classNames } from './ui/class-names.ts';
import { ErrorBoundary } from './ui/error-boundary.tsx';
import { modKey, useKeys } from './ui/keys.ts';
import { lazily } from './ui/lazily.tsx';
import { Main } from './ui/main.tsx';
import { Toasts } from './ui/toast.tsx';
import ui from './ui/ui.module.css';
import { useReady } from './ui/use-ready.ts';

export const Runs = lazily(() => import('./runs/runs-page.tsx'));
export const Run = lazily(() => import('./run/run-page.tsx'));
export const Review = lazily(() => import('./decide/review-page.tsx'));
export const Workflows = lazily(() => import('./workflows/workflows-page.tsx'));
export const Workflow = lazily(() => import('./workflows/workflow-page.tsx'));
const Palette = lazily(() => import('./ui/palette.tsx'));
const Help = lazily(() => import('./ui/help.tsx'));

export function App(): JSX.Element {
  const [location, go] = useLocation();
  const [open, setOpen] = useState<'palette' | 'help' | undefined>();
  const close = (): void => setOpen(undefined);
  const { error } = useQuery(overviewQuery);
  const isSignedOut = error instanceof ApiError && error.code === 'sign_in';
  useEffect(() => (isSignedOut ? undefined : openStream()), [isSignedOut]);
  useEffect(fetchOthers, []);
  useReady();
  useKeys(
    {
      'mod+k': () => setOpen('palette'),
      '/': () => setOpen('palette'),
      '?': () => setOpen('help'),
      'g r': () => go('/'),
      'g w': () => go('/workflows'),
      t: toggleTheme,
    },
    true,
    'app',
  );
  return (
    <div className={css.app}>
      <a className={css.skip} href="#main">
        Skip to content
      </a>
      {isSignedOut ? <SignedOutBar /> : <TopBar onSearch={() => setOpen('palette')} />}
      <ErrorBoundary key={location}>
        <Suspense fallback={<main className={ui.main} aria-busy />}>
          {isSignedOut ? (
            <SignIn />
          ) : (
            <Switch>
              <Route path="/" component={Runs} />
              <Route path="/runs/:run">{({ run }) => <Run key={run} run={decodeURIComponent(run)} />}</Route>
              <Route path="/runs/:run/workflow">
                {({ run }) => <Workflow key={run} source={{ run: decodeURIComponent(run) }} />}
              </Route>
              <Route path="/workflows" component={Workflows} />
              <Route path="/workflows/:name">
                {({ name }) => <Workflow key={name} source={{ name: decodeURIComponent(name) }} />}
              </Route>
              <Route path="/runs/:run/review/:at">
                {({ run, at }) => (
                  <Review key={at} run={decodeURIComponent(run)} at={decodeURIComponent(at)} />
                )}
              </Route>
              <Route>
                <Main>
                  <div className={ui.empty}>
                    <h1>No such page</h1>
                    <Link className={ui.btn} href="/">
                      All runs
                    </Link>
                  </div>
                </Main>
              </Route>
            </Switch>
          )}
        </Suspense>
      </ErrorBoundary>
      <Suspense>
        {open === 'palette' && <Palette onClose={close} />}
        {open === 'help' && <Help onClose={close} />}
      </Suspense>
      {!isSignedOut && <ConnectionStrip />}
      <Passphrase />
      <Toasts />
    </div>
  );
}

/** Once the first page is at rest. A palette that loads on its key would lose the first letters. */
function fetchOthers(): void {
  const pages = [Palette, Runs, Run, Review, Workflows, Workflow, Help];
  const whenIdle = window.requestIdleCallback ?? ((then: () => void) => setTimeout(then, 1500));
  whenIdle(() => void Promise.all(pages.map((page) => page.fetch())));
}

function TopBar({ onSearch }: { onSearch(): void }): JSX.Element {
  const connection = useConnection();
  const isLive = connection === 'open' || connection === 'away';
  const { data } = useQuery(overviewQuery);
  const [location] = useLocation();
  return (
    <header className={css.top}>
      <Brand />
      <span className={css.slash} aria-hidden="true">
        /
      </span>
      <span className={ui.cut}>{data?.project ?? ''}</span>
      <nav className={css.places} aria-label="Main">
        <Place href="/" isOn={location === '/' || location.startsWith('/runs/')} name="Runs" />
        <Place href="/workflows" isOn={location.startsWith('/workflows')} name="Workflows" />
      </nav>
      <span className={ui.grow} />
      <button
        type="button"
        className={classNames(css.search, ui.keyed)}
        data-key={`${modKey} K`}
        onClick={onSearch}
        aria-label="Search or jump to…"
        aria-keyshortcuts="Control+K Meta+K"
      >
        <Search size={15} aria-hidden="true" />
        <span className={ui.wideOnly}>Search or jump to…</span>
      </button>
      <div className={css.live} data-live={isLive}>
        <i />
        <span className={ui.wideOnly}>{isLive ? 'Live' : 'Offline'}</span>
      </div>
      <ThemeButton />
      {data?.me.isSignedIn && (
        <button
          type="button"
          className={classNames(ui.btn, ui.ghost, ui.icon)}
          onClick={() => void signOut()}
          aria-label="Sign out"
          title="Sign out"
        >
          <LogOut size={16} aria-hidden="true" />
        </button>
      )}
      {data && (
        <span
          className={classNames(css.avatar, ui.wideOnly)}
          role="img"
          aria-label={`Signed in as ${data.me.name}`}
          title={data.me.name}
        >
          {data.me.name[0]?.toUpperCase()}
        </span>
      )}
    </header>
  );
}

const SignedOutBar = (): JSX.Element => (
  <header className={css.top}>
    <Brand />
    <span className={ui.grow} />
    <ThemeButton />
  </header>
);

const Brand = (): JSX.Element => (
  <Link className={css.brand} href="/" aria-label="Stepfast, all runs">
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
      <rect width="20" height="20" rx="5" fill="var(--ink)" />
      <path
        d="M4.5 14.5h3.6v-4h3.6v-4h3.8"
        fill="none"
        stroke="var(--on-ink)"
        strokeWidth="2"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
    <span className={ui.wideOnly}>stepfast</span>
  </Link>
);

const Place = ({ href, isOn, name }: { href: string; isOn: boolean; name: string }): JSX.Element => (
  <Link href={href} aria-current={isOn ? 'page' : undefined}>
    {name}
  </Link>
);

function ConnectionStrip(): JSX.Element {
  const isLost = useConnection() === 'lost';
  return (
    <div className={css.strip} role="status">
      {isLost && <p>Connection lost, reconnecting…</p>}
    </div>
  );
}
