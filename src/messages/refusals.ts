import { machineRefusals } from './machine-refusals.ts';
import type { RefusalText, Refused, Words } from './refused.ts';
import { errorWords, runtimeRefusals } from './runtime-refusals.ts';
import type { Voice } from './voice.ts';

/** A refusal for one reader. Refusals from older journals have no parameters and are shown as stored. */
export function refusalText(refused: Refused, voice: Voice): RefusalText {
  const { code, at, instructions, action = { do: 'ask_status' } } = refused;
  const stored = refused as unknown as RefusalText;
  const [message, next = voice.next(action)] =
    'message' in refused ? [stored.message, stored.next] : words(refused, voice);
  const runs =
    refused.code === 'several_runs'
      ? refused.params.runs.map(({ run, summary }) => (summary === undefined ? run : `${run}: ${summary}`))
      : undefined;
  return {
    code,
    message,
    next,
    ...(at === undefined ? {} : { at }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(runs ? { runs } : {}),
  };
}

const table: Partial<Record<string, (params: never, voice: Voice) => Words>> = {
  ...machineRefusals,
  ...runtimeRefusals,
};

function words({ code, params }: Refused, voice: Voice): Words {
  // The tables have a renderer for the parameters of every code; what is left are errors with a message.
  const render = table[code];
  return render
    ? render(params as never, voice)
    : errorWords(code as never, (params as { message: string }).message, voice);
}
