/** Bundles into dist/, unless what is there was built from the same sources: every script that needs dist/ runs this. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { codedMessages, codedMessagesInBundle, messages } from './build/messages.ts';
import { createStamp } from './build/stamp.ts';

process.chdir(join(import.meta.dirname, '..'));

/** The lock file stands for node_modules, and `npm ci` removes the stamp with it. */
const stamp = createStamp(
  'node_modules/.cache/stepfast/build',
  [
    'src',
    'scripts/build',
    'scripts/build.ts',
    'package.json',
    'package-lock.json',
    'tsconfig.json',
    'tsconfig.build.json',
    ...(messages === 'codes' ? [codedMessages] : []),
  ],
  ['dist'],
);
if (stamp.isCurrent()) {
  console.log('dist/ is current');
  process.exit();
}
stamp.remove();
rmSync('dist', { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: {
    index: 'src/index.ts',
    main: 'src/cli/main.ts',
    context: 'src/context/library.ts',
    'hook-with-files': 'src/hooks/with-files.ts',
  },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // Their builds for Node ask for `require` at run time; these are the same code as ES modules.
  alias: {
    yaml: './node_modules/yaml/browser/index.js',
    'jsonc-parser': './node_modules/jsonc-parser/lib/esm/main.js',
  },
  plugins: [codedMessagesInBundle],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'external',
  metafile: true,
  logLevel: 'warning',
});

// Packages of the team server that are CommonJS ask for Node's own modules by `require`.
for (const file of Object.keys(metafile.outputs).filter((each) => each.endsWith('.js'))) {
  const text = readFileSync(file, 'utf8');
  if (text.includes('Dynamic require of'))
    writeFileSync(
      file,
      `import{createRequire as requireHere}from'node:module';const require=requireHere(import.meta.url);${text}`,
    );
}

// What an older Node cannot even load is looked at first, by a file that it can.
const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
const [major, minor] = engines.node.replace('>=', '').split('.');
const isOld = `const[a,b]=process.versions.node.split('.');if(a<${major}||a==${major}&&b<${minor})`;
const needs = `Stepfast needs Node ${major}.${minor} or newer and found `;
writeFileSync(
  'dist/cli.js',
  `#!/usr/bin/env node
${isOld}{console.error('${needs}'+process.version+' at '+process.execPath);process.exitCode=1}else await import('./main.js');
`,
);
chmodSync('dist/cli.js', 0o755);

// A hook starts often: its program is a small file, another for when the run must be asked, and what is shared with
// the rest where files must be read.
const light = await buildHook(
  'src/cli/hook/main.ts',
  'hook.cjs',
  { './full.ts': './hook-full.cjs' },
  guard(),
);
const line = await buildHook('src/cli/statusline/main.ts', 'statusline.cjs', {});
const full = await buildHook('src/hooks/full.ts', 'hook-full.cjs', {
  './with-files.ts': './hook-with-files.js',
});

writeFileSync('dist/THIRD-PARTY.txt', thirdParty(metafile));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
printSizes(metafile);
for (const each of [light, full, line]) printSizes(each);
stamp.write();

/** Loading ES modules costs Node a quarter of its start, and `node:crypto` a fifth. */
async function buildHook(
  entry: string,
  file: string,
  others: Record<string, string>,
  banner = '',
): Promise<Metafile> {
  const lean: Plugin = {
    name: 'lean',
    setup({ onResolve }) {
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir, kind }) => {
        if (kind === 'entry-point') return undefined;
        const other = others[path];
        if (other !== undefined) return { path: other, external: true };
        // Nothing in src does anything when it is imported, so what is not used can go.
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
    // An ES module is imported as one, everything else is required.
    supported: { 'dynamic-import': Object.values(others).every((other) => other.endsWith('.js')) },
    alias: { 'node:crypto': './src/hooks/sha256.ts' },
    plugins: [codedMessagesInBundle, lean],
    minify: true,
    banner: { js: banner },
    metafile: true,
    logLevel: 'warning',
    // In a file that is looked at and left out.
    logOverride: { 'empty-import-meta': 'silent' },
  });
  return built.metafile;
}

/** Says it once a session, where a person sees it, and fails no hook. */
function guard(): string {
  const said = `{const t='${needs}'+process.version+', so this session is not told of the run under way';`;
  return `{${isOld}${said}if(process.argv[4]=='SessionStart')console.log(JSON.stringify({systemMessage:t}));else console.error(t);process.exit(0)}}`;
}

/** The licences of everything that was bundled, since their texts must travel with the code. */
function thirdParty({ inputs }: Metafile): string {
  const packages = new Set(
    Object.keys(inputs).flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const notices = [...packages].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    return `${name} ${version} (${license})\n\n${licenceIn(directory)}\n`;
  });
  const line = '-'.repeat(78);
  return `Stepfast contains code of these packages.\n\n${line}\n${notices.join(`\n${line}\n`)}`;
}

function licenceIn(directory: string): string {
  const text = (name: RegExp): string | undefined => {
    const file = readdirSync(directory).find((entry) => name.test(entry));
    return file && readFileSync(join(directory, file), 'utf8');
  };
  // Some have it at the end of what they say of themselves.
  const licence =
    text(/^licen[cs]e(\.|$)/i) ?? /^#+ *licen[cs]e\s+([\s\S]+)/im.exec(text(/^readme/i) ?? '')?.[1];
  if (!licence) throw new Error(`what is in ${directory} is bundled but says no licence`);
  return licence.trim();
}

function printSizes({ outputs }: Metafile): void {
  const files = Object.entries(outputs).filter(([file]) => /\.c?js$/.test(file));
  for (const [file, { bytes }] of files) console.log(`${kilobytes(bytes)}  ${file}`);
  console.log(`${kilobytes(files.reduce((sum, [, { bytes }]) => sum + bytes, 0))}  together`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
}
