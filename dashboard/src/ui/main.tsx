import { type JSX, type ReactNode, type RefObject, useEffect, useRef } from 'react';
import ui from './ui.module.css';

interface Props {
  scroller?: RefObject<HTMLElement | null>;
  children?: ReactNode;
}

/** The scrolling part of a page. It takes the focus, or Space and PageDown would scroll nothing. */
export function Main({ scroller, children }: Props): JSX.Element {
  const own = useRef<HTMLElement>(null);
  const ref = scroller ?? own;
  useEffect(() => {
    if (document.activeElement === document.body) ref.current?.focus({ preventScroll: true });
  }, [ref]);
  return (
    <main className={ui.main} id="main" tabIndex={-1} ref={ref}>
      {children}
    </main>
  );
}
