import { Component, type ReactNode } from 'react';
import { Main } from './main.tsx';
import ui from './ui.module.css';

/** Also catches code that is gone because the server was updated while the tab was open. */
export class ErrorBoundary extends Component<{ children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Main>
        <div className={ui.empty} role="alert">
          <h1>This page could not be shown</h1>
          <p>{error.message}</p>
          <button type="button" className={ui.btn} onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      </Main>
    );
  }
}
