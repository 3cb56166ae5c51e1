import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { planInstall } from '../../src/hosts/claude-code/install.ts';
import { uninstall } from '../../src/hosts/claude-code/uninstall.ts';
import {
  type FoundHost,
  isSetupRefusal,
  type SetupContext,
  type SetupRefusal,
  type UninstallResult,
} from '../../src/runtime/index.ts';

/** What goes otherwise than it should; each is a beginning of the host's arguments. */
export interface Trouble {
  /** Ends with the status 3. */
  fails?: string;
  /** A session writes a permission into the local settings while this command is at work. */
  granted?: string;
  /** What Stepfast's own folder and the local settings are after this command is kept, for `goBack`. */
  stopped?: string;
}

export interface FakeClaude {
  context: SetupContext;
  found: FoundHost;
  put(text: string, name?: string): void;
  read(name?: string): string | undefined;
  trouble(trouble: Trouble): void;
  /** As if Stepfast had been ended in the middle. */
  goBack(): void;
  /** By hand, or in another project. */
  has(plugin: { scope: string; projectPath?: string }): void;
  commands(): string[];
  init(options?: { team?: boolean }): Promise<SetupRefusal | undefined>;
  uninstall(options?: { team?: boolean; isGone?: boolean }): Promise<UninstallResult | SetupRefusal>;
  [Symbol.dispose](): void;
}

/**
 * For cases that the real program cannot be made to show: failures, delays, concurrent edits. Like the real program, it
 * rewrites each settings file in another order and leaves empty groups behind.
 */
const program = `
const fs = require('fs'), path = require('path');
const home = process.env.HOME, root = fs.realpathSync(process.cwd()), said = process.argv.slice(2).join(' ');
const at = (name) => path.join(home, name);
const host = JSON.parse(fs.readFileSync(at('host.json'), 'utf8'));
const save = () => fs.writeFileSync(at('host.json'), JSON.stringify(host));
const is = (begin) => begin !== undefined && said.startsWith(begin);
const file = { local: '.claude/settings.local.json', project: '.claude/settings.json' };
function edit(name, change, isOptional) {
  const target = path.join(root, name);
  if (isOptional && !fs.existsSync(target)) return;
  const text = fs.existsSync(target) ? fs.readFileSync(target, 'utf8').replace('\\uFEFF', '') : '{}';
  const value = JSON.parse(text);
  change(value);
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(target, JSON.stringify(Object.fromEntries(Object.entries(value).reverse()), null, 2));
}
if (is('plugin list')) { console.log(JSON.stringify(host.plugins)); process.exit(is(host.fails) ? 3 : 0); }
if (is('plugin marketplace list')) { console.log(JSON.stringify(host.markets)); process.exit(); }
host.commands.push(said);
save();
const grant = () => edit(file.local, (all) => { all.permissions = { allow: [...(all.permissions?.allow ?? []), 'GRANTED'] }; });
if (is(host.fails)) { if (is(host.granted)) grant(); console.error('The disk is full'); process.exit(3); }
const what = process.argv[3] === 'marketplace' ? process.argv[4] + ' market' : process.argv[3];
const scope = process.argv.at(-1);
if (what === 'add market') {
  host.markets = [{ name: 'stepfast', path: process.argv[5] }];
  edit(file.local, (all) => { (all.extraKnownMarketplaces ??= {}).stepfast = { source: { source: 'directory', path: process.argv[5] } }; });
} else if (what === 'install') {
  host.plugins.push({ id: 'stepfast@stepfast', scope, projectPath: root, version: '1.0.0', enabled: true });
  edit(file[scope], (all) => { (all.enabledPlugins ??= {})['stepfast@stepfast'] = true; });
} else if (what === 'uninstall') {
  host.plugins = host.plugins.filter((each) => each.projectPath !== root || each.scope !== scope);
  if (file[scope]) edit(file[scope], (all) => { if (all.enabledPlugins) delete all.enabledPlugins['stepfast@stepfast']; });
} else if (what === 'remove market') {
  Object.assign(host, { markets: [], plugins: [] });
  for (const name of Object.values(file)) edit(name, (all) => {
    if (all.extraKnownMarketplaces) delete all.extraKnownMarketplaces.stepfast;
    if (all.enabledPlugins) delete all.enabledPlugins['stepfast@stepfast'];
  }, true);
}
save();
if (is(host.granted)) grant();
if (is(host.stopped)) {
  fs.cpSync(at('state'), at('then/state'), { recursive: true });
  fs.cpSync(path.join(root, '.claude'), at('then/.claude'), { recursive: true });
}
`;

export function createFakeClaude(): FakeClaude {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'stepfast-fake-claude-')));
  const root = join(home, 'project');
  const state = join(home, 'state');
  const plugin = join(state, 'plugin', 'current');
  const binary = join(home, 'bin', 'claude');
  for (const folder of [root, plugin, dirname(binary)]) mkdirSync(folder, { recursive: true });
  writeFileSync(binary, `#!${process.execPath}\n${program}`);
  chmodSync(binary, 0o755);
  const context: SetupContext = { root, home, state, env: { HOME: home, PATH: dirname(binary) } };
  const found = { program: binary, version: '2.1.325' };
  const hostFile = join(home, 'host.json');
  const host = (): { plugins: object[]; commands: string[] } => JSON.parse(readFileSync(hostFile, 'utf8'));
  const change = (more: object): void => writeFileSync(hostFile, JSON.stringify({ ...host(), ...more }));
  writeFileSync(hostFile, JSON.stringify({ plugins: [], markets: [], commands: [] }));
  const fileOf = (name = 'settings.local.json'): string => join(root, '.claude', name);
  return {
    context,
    found,
    put(text, name) {
      mkdirSync(join(root, '.claude'), { recursive: true });
      writeFileSync(fileOf(name), text);
    },
    read(name) {
      try {
        return readFileSync(fileOf(name), 'utf8');
      } catch {
        return undefined;
      }
    },
    trouble: ({ fails, granted, stopped }) => change({ fails, granted, stopped }),
    goBack() {
      for (const [from, to] of [
        [join(home, 'then', 'state'), state],
        [join(home, 'then', '.claude'), join(root, '.claude')],
      ] as const) {
        rmSync(to, { recursive: true, force: true });
        cpSync(from, to, { recursive: true });
      }
    },
    has: (one) =>
      change({
        plugins: [...host().plugins, { id: 'stepfast@stepfast', version: '1.0.0', enabled: true, ...one }],
      }),
    commands: () => host().commands,
    async init({ team = false } = {}) {
      const plan = await planInstall(found, context, { team, plugin, version: '1.0.0' });
      return isSetupRefusal(plan) ? plan : await plan.perform();
    },
    uninstall: ({ team = false, isGone = false } = {}) =>
      uninstall(isGone ? undefined : found, context, { team, plugin }),
    [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }),
  };
}
