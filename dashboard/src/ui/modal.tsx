import { type JSX, type ReactNode, useEffect, useRef } from 'react';

/** The platform's dialog: it keeps the focus, closes on Escape and makes the rest inert. */
export function Modal({
  label,
  className,
  onClose,
  children,
}: {
  label: string;
  className?: string | undefined;
  onClose(): void;
  children: ReactNode;
}): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = ref.current;
    const before = document.activeElement;
    if (dialog && !dialog.open) dialog.showModal();
    // React's autoFocus comes too early: showModal moves the focus. On touch, focus would open the keyboard.
    const isTouch = matchMedia('(pointer: coarse)').matches;
    const first = isTouch ? null : dialog?.querySelector<HTMLElement>('[data-first]');
    (first ?? dialog)?.focus();
    return () => {
      if (dialog?.open) dialog.close();
      // React removes the element before the browser would return the focus.
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same by keyboard.
    <dialog
      ref={ref}
      tabIndex={-1}
      className={className}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => event.target === ref.current && onClose()}
    >
      {children}
    </dialog>
  );
}
