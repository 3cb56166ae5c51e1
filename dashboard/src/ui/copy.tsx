import { Check, Copy } from 'lucide-react';
import { type JSX, useState } from 'react';
import { classNames } from './class-names.ts';
import ui from './ui.module.css';

/** Text in a fixed-width font with a button that copies it. */
export function CopyText({ text, label }: { text: string; label?: string }): JSX.Element {
  const [isCopied, setCopied] = useState(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1200);
  };
  return (
    <button
      type="button"
      className={classNames(ui.copy, ui.mono)}
      onClick={() => void copy()}
      aria-label={`Copy ${label ?? text}`}
    >
      <span>{text}</span>
      {isCopied ? <Check size={13} aria-hidden="true" /> : <Copy size={12} aria-hidden="true" />}
    </button>
  );
}
