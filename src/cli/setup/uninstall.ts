import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { printable } from '../../messages/index.ts';
import { type HostSetup, isSetupRefusal, type SetupRefusal, type Uninstalled } from '../../runtime/index.ts';
import { readArgs } from '../args.ts';
import { agreed } from '../confirm.ts';
import { declined } from '../decide/verdict.ts';
import { exit } from '../exit.ts';
import type { Io } from '../io.ts';
import { paint } from '../paint.ts';
import { printJson, printRefusal } from '../perform.ts';
import { openRuntime, placeOptions } from '../run-options.ts';
import { signsFor } from '../view/symbols.ts';
import { pluginLink, unstage } from './copy-plugin.ts';
import { findHosts, homely, placeOf, setupsNamed } from './hosts.ts';

export const options = {
  ...placeOptions,
  yes: { type: 'boolean', short: 'y' },
  team: { type: 'boolean' },
  host: { type: 'string', multiple: true },
} as const;

export async function run(args: readonly string[], io: Io): Promise<number> {
  const { values } = readArgs(args, options, { max: 0 });
  const place = placeOf(openRuntime(io, values), io);
  const hosts = await findHosts(await setupsNamed(values.host), place);
  const titles = hosts.map(({ setup }) => setup.title).join(' and ');
  if (!values.yes && !io.stdin.terminal) {
    const message = `Stepfast would be taken out of ${titles} in this project`;
    return printRefusal(
      { code: 'not_confirmed', message, next: 'say it with --yes: stepfast uninstall --yes' },
      io,
      values,
    );
  }
  if (!values.yes && !(await agreed(io, `Take Stepfast out of ${titles} in this project?`)))
    return declined(io, values);
  const setupOptions = { team: values.team ?? false, plugin: pluginLink(place.state) };
  const results: { setup: HostSetup; result: Uninstalled | SetupRefusal; found: boolean }[] = [];
  for (const { setup, found } of hosts)
    results.push({
      setup,
      result: await setup.uninstall(found, place, setupOptions),
      found: found !== undefined,
    });
  const failed = results.find(({ result }) => isSetupRefusal(result));
  // Where nobody was asked, nobody said that it is free.
  const used =
    failed !== undefined ||
    results.length === 0 ||
    results.some(({ result }) => 'used' in result && result.used);
  const staged = existsSync(dirname(pluginLink(place.state)));
  if (!used) unstage(place.state);
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
    else tell(setup, result, found, io);
  }
  if (failed) return code;
  if (results.length === 0) {
    io.stdout.write('No host was named, so nothing was taken out.\n');
    return code;
  }
  const folder = homely(dirname(pluginLink(place.state)), io);
  const sure = results.every(({ found }) => found);
  const stays = sure ? 'other projects use it' : 'other projects may use it';
  if (staged) line(io, used ? `${folder} stays: ${stays}` : `${folder} was removed`);
  line(io, '.stepfast/ stays: workflows and runs are yours');
  return code;
}

function tell({ title }: HostSetup, { commands, files, notes }: Uninstalled, found: boolean, io: Io): void {
  const { done } = signsFor(io);
  const changed = commands.length > 0 || files.some(({ how }) => how !== 'left');
  const gone =
    notes.length > 0
      ? `What ${title} had of Stepfast in this project alone was taken out.`
      : `${title} no longer has the plugin in this project.`;
  const says = changed ? gone : `${title} had no plugin in this project${notes.length > 0 ? ' alone' : ''}.`;
  io.stdout.write(`${paint(io.stdout, 'green', done)} ${says}\n`);
  for (const { file, how, why } of files)
    line(io, `${printable(file)} ${words[how]}${why ? `: ${printable(why)}` : ''}`);
  for (const note of notes) line(io, printable(note));
  if (!found && changed)
    line(io, `${title} itself was not found, so its own list of plugins was not changed`);
}

const words: Record<Uninstalled['files'][number]['how'], string> = {
  as_before: 'is as it was before, byte for byte',
  removed: 'was removed: it was not there before',
  ours_removed: 'was changed since: only our entries were taken out',
  left: 'was left alone',
};

const line = (io: Io, text: string): void => io.stdout.write(`  ${text}\n`);
