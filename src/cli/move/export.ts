import { commandName } from '../../command-name.ts';
import { count } from '../../messages/index.ts';
import { digestsIn, secretScan, secretsIn } from '../../runtime/index.ts';
import { archiveOf } from '../archive.ts';
import { readArgs } from '../args.ts';
import { exit, notFound } from '../exit.ts';
import type { Io } from '../io.ts';
import { printJson, printRefusal, printWholeJson } from '../perform.ts';
import { openRuntime, projectOptions } from '../run-options.ts';
import { saveFile } from '../save-file.ts';
import { listSecrets } from './list-secrets.ts';
import { printNotes } from './transfer-notes.ts';

export const options = { ...projectOptions, output: { type: 'string', short: 'o' } } as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = readArgs(args, options, { min: 1, max: 1, what: 'run' });
  const [name = ''] = positionals;
  const { chooseRun, engine } = openRuntime(io, values);
  const found = await chooseRun({ run: name });
  if ('code' in found) return printRefusal(found, io, { ...values, run: name });
  const view = await engine.view(found.run);
  if (!view) throw notFound(`Run '${name}' not found. Run: ${commandName()} runs --all`);
  const entries = await engine.entries(found.run);
  const texts: Record<string, string> = {};
  for (const digest of digestsIn(entries))
    texts[digest] = await engine.text(found.run, { digest, opening: '', bytes: 0 });
  const bytes = new Map(Object.entries(texts).map(([digest, text]) => [digest, Buffer.from(text)]));
  const secrets = await secretsIn({ lines: entries, texts: bytes, definition: view.definition }, secretScan);
  if (secrets.length > 0)
    printNotes(
      [
        `contains ${count(secrets.length, 'secret')}: ${listSecrets(secrets)}. Rotate the secret before you share the file`,
      ],
      io,
    );
  const archive = archiveOf(found.run, view, entries, texts);
  if (values.output === undefined) return printWholeJson(io, archive, exit.ok);
  saveFile(values.output, `${JSON.stringify(archive)}\n`, io);
  if (values.json)
    return printJson(io, { run: found.run, file: values.output, entries: entries.length }, exit.ok);
  io.stdout.write(
    `Exported ${found.run} to ${values.output}: ${count(entries.length, 'batch', 'batches')}, ${count(Object.keys(texts).length, 'long text')}.\n`,
  );
  return exit.ok;
}
