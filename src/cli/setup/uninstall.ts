import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { commandName } from '../../command-name.ts';
import { printable } from '../../messages/index.ts';
import {
  type HostSetup,
  isSetupRefusal,
  type SetupRefusal,
  type UninstallResult,
} from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { confirm, printDeclined } from '../confirm.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime } from '../run-options.ts';
import { symbolsFor } from '../view/symbols.ts';
import { pluginLink, unstage } from './copy-plugin.ts';
import { findHosts, setupContext, setupOptions, setupsNamed, tildePath } from './hosts.ts';

export const options = setupOptions;

interface Uninstalled {
  setup: HostSetup;
  result: UninstallResult | SetupRefusal;
  found: boolean;
}

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const context = setupContext(openRuntime(io, values), io);
  const hosts = await findHosts(await setupsNamed(values.host), context);
  const here = hosts.filter(({ found }) => found);
  const titles = new Intl.ListFormat('en').format(
    (here.length > 0 ? here : hosts).map(({ setup }) => setup.title),
  );
  if (!values.yes && !io.stdin.terminal) {
    const message = `Stepfast would be removed from ${titles} in this project`;
    return printRefusal(
      { code: 'not_confirmed', message, next: `confirm with: ${commandName()} uninstall --yes` },
      io,
      values,
    );
  }
  if (!values.yes && !(await confirm(io, `Remove Stepfast from ${titles} in this project?`)))
    return printDeclined(io, values);
  const setupOptions = { team: values.team ?? false, plugin: pluginLink(context.state) };
  const results: Uninstalled[] = [];
  for (const { setup, found } of hosts)
    results.push({
      setup,
      result: await setup.uninstall(found, context, setupOptions),
      found: found !== undefined,
    });
  const failed = results.find(({ result }) => isSetupRefusal(result));
  // Unless every host confirmed that the copy is unused, keep it.
  const used =
    failed !== undefined ||
    results.length === 0 ||
    // The others were not asked.
    values.host !== undefined ||
    results.some((each) => 'used' in each.result && each.result.used && concerns(each));
  const staged = existsSync(dirname(pluginLink(context.state)));
  if (!used) unstage(context.state);
  const code = failed ? exit.no : exit.ok;
  if (values.json)
    return printJson(
      io,
      {
        hosts: results.map(({ setup, result }) => ({
          host: setup.name,
          ...(isSetupRefusal(result) ? { refused: result } : result),
        })),
        staged: staged && used,
      },
      code,
    );
  for (const { setup, result, found } of results) {
    if (isSetupRefusal(result)) printRefusal(result, io, values);
    else printResult(setup, result, found, io);
  }
  if (failed) return code;
  if (results.length === 0) {
    io.stdout.write('No host selected. Nothing was removed.\n');
    return code;
  }
  const folder = tildePath(dirname(pluginLink(context.state)), io);
  const sure = results.filter(concerns).every(({ found }) => found);
  const stays =
    values.host !== undefined
      ? 'other hosts may use it'
      : sure
        ? 'used by other projects'
        : 'other projects may use it';
  if (staged) line(io, used ? `kept ${folder}: ${stays}` : `removed ${folder}`);
  line(io, 'kept .stepfast/ with its workflows and runs');
  return code;
}

/** A host that is neither here nor in the settings of this project uses nothing. */
const concerns = ({ result, found }: Pick<Uninstalled, 'result' | 'found'>): boolean =>
  found || isSetupRefusal(result) || result.files.length > 0 || result.notes.length > 0;

function printResult(
  { title }: HostSetup,
  { commands, files, notes }: UninstallResult,
  found: boolean,
  io: Io,
): void {
  const { done } = symbolsFor(io);
  const changed = commands.length > 0 || files.some(({ how }) => how !== 'left');
  if (!found && !changed && notes.length === 0) return;
  const removedText =
    notes.length > 0
      ? `Removed what ${title} had of Stepfast for this project only.`
      : `Removed the plugin from ${title} in this project.`;
  const says = changed
    ? removedText
    : `${title} had no plugin ${notes.length > 0 ? 'for this project only' : 'in this project'}.`;
  io.stdout.write(`${paint(io.stdout, 'green', done)} ${says}\n`);
  for (const { file, how, why } of files)
    line(io, `${printable(file)} ${words[how]}${why ? `: ${printable(why)}` : ''}`);
  for (const note of notes) line(io, printable(note));
  if (!found && changed) line(io, `${title} was not found, so its list of plugins was not changed`);
}

const words: Record<UninstallResult['files'][number]['how'], string> = {
  as_before: 'restored to the original',
  removed: 'removed: it did not exist before',
  ours_removed: "edited since: only Stepfast's entries were removed",
  left: 'left unchanged',
};

const line = (io: Io, text: string): void => io.stdout.write(`  ${text}\n`);
