/** Bundles into dist/ unless it is up to date. Every script that needs dist/ runs this. */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, globSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { buildDashboard, dashboardSources } from './build/dashboard.ts';
import { copyPublicTypes } from './build/public-types.ts';
import { createStamp } from './build/stamp.ts';

process.chdir(join(import.meta.dirname, '..'));

/** The lock file represents node_modules, and `npm ci` removes the stamp with it. */
const stamp = createStamp(
  'node_modules/.cache/stepfast/build',
  [
    'src',
    ...dashboardSources,
    'scripts/build',
    'scripts/build.ts',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
  ],
  ['dist'],
);
if (stamp.isCurrent()) {
  console.log('dist/ is up to date');
  process.exit();
}
stamp.remove();
rmSync('dist', { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: {
    index: 'src/index.ts',
    main: 'src/cli/main.ts',
    context: 'src/context/library.ts',
    runtime: 'src/runtime/library.ts',
    testing: 'src/testing/library.ts',
    'testing-bridge': 'src/testing/claude/bridge.ts',
    'hook-with-files': 'src/hooks/with-files.ts',
    'hook-conditions': 'src/engine/prepare-positions.ts',
  },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // Their Node builds call `require` at run time; these are the same code as ES modules.
  alias: {
    yaml: './node_modules/yaml/browser/index.js',
    'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js',
  },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'external',
  metafile: true,
  logLevel: 'warning',
});

// CommonJS packages of the team server load Node's built-in modules with `require`.
for (const file of Object.keys(metafile.outputs).filter((each) => each.endsWith('.js'))) {
  const text = toAscii(readFileSync(file, 'utf8'));
  const head = text.includes('Dynamic require of')
    ? "import{createRequire as requireHere}from'node:module';const require=requireHere(import.meta.url);"
    : '';
  writeFileSync(file, head + text);
}

// Checks the Node version in a file that an older Node can still parse.
const { engines, exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const [major, minor] = engines.node.replace('>=', '').split('.');
const isOld = `const[a,b]=process.versions.node.split('.');if(a<${major}||a==${major}&&b<${minor})`;
const needs = `Stepfast needs Node ${major}.${minor} or newer and found `;
writeFileSync(
  'dist/cli.js',
  `#!/usr/bin/env node
${await usingCompileCache('esm')}{${isOld}{console.error('${needs}'+process.version+' at '+process.execPath);process.exitCode=1}else await import('./main.js')}
`,
);
chmodSync('dist/cli.js', 0o755);

/** What hooks load on demand, or never. */
const notInHooks: Readonly<Record<string, string>> = {
  './with-files.ts': './hook-with-files.js',
  './prepare-positions.ts': './hook-conditions.js',
  './setup.ts': './main.js',
  './drive/index.ts': './main.js',
};

const loadedByNode = ['node:fs', 'node:path'];

// Hooks and the status line start often, so they load little code. Only a briefing with files loads the rest.
// A hook is two files, because Node caches compiled code only for files loaded after the cache is turned on.
const hook = await buildHook('src/cli/hook/main.ts', 'hook-main.cjs');
writeFileSync('dist/hook.cjs', `${guard()}${await usingCompileCache('cjs')}require('./hook-main.cjs')\n`);
const line = await buildHook('src/cli/statusline/main.ts', 'statusline.cjs');

// OpenCode loads it into its own process, which is Bun.
const { metafile: inOpenCode } = await build({
  entryPoints: ['src/hosts/opencode/plugin/plugin.ts'],
  outfile: 'dist/opencode-plugin.js',
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  minifyWhitespace: true,
  minifySyntax: true,
  metafile: true,
  logLevel: 'warning',
});

const pages = await buildDashboard('dist/dashboard');
writeFileSync('dist/THIRD-PARTY.txt', thirdParty([...Object.keys(metafile.inputs), ...pages]));
const types = 'node_modules/.cache/stepfast/types';
rmSync(types, { recursive: true, force: true });
const tsc = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', types];
execFileSync(process.execPath, tsc, { stdio: 'inherit' });
const entries: { types?: string }[] = Object.values(exports);
copyPublicTypes(
  types,
  'dist',
  entries.flatMap((entry) => (entry.types === undefined ? [] : relative('dist', entry.types))),
);
bundleZodTypes();
printSizes(metafile);
for (const each of [hook, line, inOpenCode]) printSizes(each);
stamp.write();

/** Code that turns on Node's compile cache, so that Node compiles each file loaded after it only once. */
async function usingCompileCache(format: 'esm' | 'cjs'): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: "import { useCompileCache } from './src/cli/compile-cache.ts';useCompileCache();",
      resolveDir: '.',
    },
    write: false,
    bundle: true,
    format,
    platform: 'node',
    target: 'node14',
    minify: true,
  });
  return outputFiles[0]?.text ?? '';
}

/** Loads a built-in module at its first use: `child_process` alone costs a tenth of Node's start-up. */
async function onDemand(path: string): Promise<string> {
  const functions = Object.entries(await import(path)).filter(
    ([name, value]) => name !== 'default' && typeof value === 'function',
  );
  const wrap = (name: string): string =>
    `export function ${name}(...given){const all=load();return new.target?new all.${name}(...given):all.${name}(...given)}`;
  return `const load=()=>process.getBuiltinModule('${path}');${functions.map(([name]) => wrap(name)).join('')}`;
}

/** CommonJS, since loading ES modules takes a quarter of Node's own start-up time. */
async function buildHook(entry: string, file: string): Promise<Metafile> {
  const lean: Plugin = {
    name: 'lean',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^node:/ }, ({ path }) =>
        loadedByNode.includes(path) ? undefined : { path, namespace: 'on-demand', sideEffects: false },
      );
      onLoad({ filter: /^/, namespace: 'on-demand' }, async ({ path }) => ({
        contents: await onDemand(path),
      }));
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined;
        const other = notInHooks[path];
        if (other !== undefined) return { path: other, external: true, sideEffects: false };
        // No module in src has side effects, so unused imports can be dropped.
        return { path: join(resolveDir, path), sideEffects: false };
      });
    },
  };
  const built = await build({
    entryPoints: [entry],
    outfile: join('dist', file),
    bundle: true,
    format: 'cjs',
    platform: 'node',
    target: 'node22',
    plugins: [lean],
    minify: true,
    metafile: true,
    logLevel: 'warning',
    // In a file that is looked at and left out.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  const path = join('dist', file);
  writeFileSync(path, toAscii(readFileSync(path, 'utf8')));
  const { inputs } = built.metafile.outputs[`dist/${file}`] ?? { inputs: {} };
  if (Object.keys(inputs).some((path) => path.includes('node_modules/zod/')))
    throw new Error(`${file} bundles zod: import only types of schema/, or what its api.ts has`);
  return built.metafile;
}

/**
 * Node loads a file of plain ASCII faster: a tenth of a hook's time. esbuild leaves other characters only in regular
 * expressions, where an escape means the same.
 */
function toAscii(text: string): string {
  return text.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Shows the message to the person once per session, without failing the hook. */
function guard(): string {
  const said = `{const t='${needs}'+process.version+', so this session is not told of the run under way';`;
  return `{${isOld}${said}if(process.argv[4]=='SessionStart')console.log(JSON.stringify({systemMessage:t}));else console.error(t);process.exit(0)}}`;
}

/** Our types are inferred by zod's, and users do not install zod: its declarations are published with ours. */
function bundleZodTypes(): void {
  const ours = globSync('dist/**/*.d.ts');
  const isTypes = (path: string): boolean => extname(path) === '' || path.endsWith('.d.ts');
  for (const part of ['classic', 'core', 'locales'])
    cpSync(`node_modules/zod/v4/${part}`, `dist/zod/${part}`, { recursive: true, filter: isTypes });
  for (const file of ours) {
    const zod = relative(dirname(file), 'dist/zod/classic/external.js').replaceAll('\\', '/');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replaceAll(/(['"])zod\1/g, `'${zod.startsWith('.') ? zod : `./${zod}`}'`));
  }
}

/** The licenses of all bundled packages, which must be distributed with the code. */
function thirdParty(inputs: readonly string[]): string {
  const packages = new Set(
    inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const notices = [...packages].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})\n\n${license === 'Unlicense' ? 'In the public domain: https://unlicense.org' : licenceIn(directory)}\n`;
  });
  const line = '-'.repeat(78);
  return `Stepfast contains code of these packages.\n\n${line}\n${notices.join(`\n${line}\n`)}`;
}

function licenceIn(directory: string): string {
  const text = (name: RegExp): string | undefined => {
    const file = readdirSync(directory).find((entry) => name.test(entry));
    return file && readFileSync(join(directory, file), 'utf8');
  };
  // Some packages have the license at the end of their README.
  const licence =
    text(/^licen[cs]e(\.|$)/i) ?? /^#+ *licen[cs]e\s+([\s\S]+)/im.exec(text(/^readme/i) ?? '')?.[1];
  if (!licence) throw new Error(`${directory} is bundled but has no license`);
  return licence.trim();
}

function printSizes({ outputs }: Metafile): void {
  const files = Object.entries(outputs).filter(([file]) => /\.c?js$/.test(file));
  for (const [file, { bytes }] of files) console.log(`${kilobytes(bytes)}  ${file}`);
  console.log(`${kilobytes(files.reduce((sum, [, { bytes }]) => sum + bytes, 0))}  total`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
}
