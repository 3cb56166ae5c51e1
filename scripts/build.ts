import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Metafile } from 'esbuild';

process.chdir(join(import.meta.dirname, '..'));
rmSync('dist', { recursive: true, force: true });

const { metafile } = await build({
  entryPoints: { index: 'src/index.ts', cli: 'src/cli/main.ts', context: 'src/context/library.ts' },
  outdir: 'dist',
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  // Its build for Node is CommonJS, which asks for `require` at run time; this is the same code as ES modules.
  alias: { yaml: './node_modules/yaml/browser/index.js' },
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'external',
  metafile: true,
  logLevel: 'warning',
});
chmodSync('dist/cli.js', 0o755);

writeFileSync('dist/THIRD-PARTY.txt', thirdParty(metafile));
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});
printSizes(metafile);

/** The licences of everything that was bundled, since their texts must travel with the code. */
function thirdParty({ inputs }: Metafile): string {
  const packages = new Set(
    Object.keys(inputs).flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  const notices = [...packages].sort().map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const file = readdirSync(directory).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
    if (file === undefined) throw new Error(`${name} is bundled but has no licence file in ${directory}`);
    return `${name} ${version} (${license})\n\n${readFileSync(join(directory, file), 'utf8').trim()}\n`;
  });
  const line = '-'.repeat(78);
  return `Stepfast contains code of these packages.\n\n${line}\n${notices.join(`\n${line}\n`)}`;
}

function printSizes({ outputs }: Metafile): void {
  const files = Object.entries(outputs).filter(([file]) => file.endsWith('.js'));
  for (const [file, { bytes }] of files) console.log(`${kilobytes(bytes)}  ${file}`);
  console.log(`${kilobytes(files.reduce((sum, [, { bytes }]) => sum + bytes, 0))}  together`);
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(8)} KB`;
}
