import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const entry = fileURLToPath(import.meta.resolve('../../dashboard/src/report/main.tsx'));

/** The page of `stepfast report --format html` as one file, with `REPORT_DATA` where the report is written. */
export async function buildReport(): Promise<{ html: string; moduleIds: string[] }> {
  const result = await build({
    root: 'dashboard',
    logLevel: 'warn',
    build: {
      write: false,
      modulePreload: false,
      cssCodeSplit: false,
      rolldownOptions: { input: entry, output: { codeSplitting: false } },
    },
  });
  if ('close' in result) throw new Error('vite watches instead of building');
  const output = [result].flat().flatMap((each) => each.output);
  const chunks = output.filter((each) => each.type === 'chunk');
  const assets = output.filter((each) => each.type === 'asset');
  const [chunk] = chunks;
  const [css] = assets;
  if (!chunk || !css || output.length !== 2)
    throw new Error(`the report is not one script and one style: ${output.map(({ fileName }) => fileName)}`);
  // A sequence that would end the element, or hide its end, can only be in a string or a pattern.
  const script = chunk.code.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = String(css.source).trim();
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  const html = pageOf(policy, style, script);
  if (html.split('REPORT_DATA').length !== 2) throw new Error('REPORT_DATA must be in the report once');
  return { html, moduleIds: chunk.moduleIds };
}

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

const pageOf = (policy: string, style: string, script: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta http-equiv="Content-Security-Policy" content="${policy}" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <title>Stepfast report</title>
    <style>${style}</style>
  </head>
  <body>
    <noscript>
      This report needs JavaScript. The Markdown report does not: stepfast report --format markdown
    </noscript>
    <div id="root"></div>
    <script type="application/json" id="report">REPORT_DATA</script>
    <script type="module">${script}</script>
  </body>
</html>
`;
