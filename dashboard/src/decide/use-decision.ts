import { useState } from 'react';
import { ApiError, canSignIn, sendDecision } from '../api/client.ts';
import type { Decision } from '../api-types.ts';
import { toast } from '../ui/toast.tsx';
import { askPassphrase } from './passphrase.tsx';
import { refusalOf } from './refusal.tsx';

/** What a person chooses; the actor is added when it is sent. */
export type Choice = Decision extends infer Each
  ? Each extends Decision
    ? Omit<Each, 'actor'>
    : never
  : never;

export interface Sending {
  isBusy: boolean;
  /** Why it was refused, and what to do about it. */
  refusal: string | undefined;
  send(choice: Choice, done: string): Promise<boolean>;
}

export function useDecision(run: string): Sending {
  const [isBusy, setBusy] = useState(false);
  const [refusal, setRefusal] = useState<string | undefined>();
  const send = async (choice: Choice, done: string): Promise<boolean> => {
    if (isBusy) return false;
    setBusy(true);
    setRefusal(undefined);
    try {
      // Omit distributes over the union, which the compiler does not see through.
      const decision = { ...choice, actor: { kind: 'person' } } as Decision;
      try {
        await sendDecision(run, decision);
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'credential_required') throw error;
        if (!(await canSignIn())) throw error;
        if (!(await askPassphrase())) return false;
        await sendDecision(run, decision);
      }
      toast(done);
      return true;
    } catch (error) {
      setRefusal(refusalOf(error));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { isBusy, refusal, send };
}
