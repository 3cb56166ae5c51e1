/** Stands for a model and a project in `agent-loop.ts`. */
import { MockLanguageModelV4 } from 'ai/test';

type Call = [name: 'read_file' | 'decide' | 'advance', input: object];

const read = (...paths: string[]): Call[] => paths.map((path) => ['read_file', { path }]);

/** What the model does, a step a line; several calls in a line are made at once. */
const script: Call[][] = [
  read('src/report.ts'),
  read('src/table.ts', 'src/locale.ts'),
  [['decide', { key: 'WRITER', decision: 'Stream the rows; never hold a report in memory.' }]],
  read('src/cli.ts'),
  [['advance', { output: 'A CsvWriter beside the table writer, then a --csv option.' }]],
  read('src/table-writer.ts', 'test/table-writer.test.ts'),
  read('src/encoding.ts'),
  read('src/csv-writer.ts'),
  [['advance', { output: 'src/csv-writer.ts and the option are written.' }]],
  read('src/csv-writer.ts', 'test/csv-writer.test.ts'),
  read('README.md'),
  read('CHANGELOG.md'),
  [['advance', { output: 'Checked against the plan; the header follows the locale.' }]],
];

export function scriptedModel(): MockLanguageModelV4 {
  let at = 0;
  return new MockLanguageModelV4({
    doGenerate: async () => {
      const calls = script[at++];
      if (!calls) return answer([{ type: 'text', text: 'Every report can be exported as CSV.' }], 'stop');
      const made = calls.map(([toolName, input], index) => ({
        type: 'tool-call' as const,
        toolCallId: `call-${at}-${index}`,
        toolName,
        input: JSON.stringify(input),
      }));
      return answer([{ type: 'text', text: `Step ${at} of my work.` }, ...made], 'tool-calls');
    },
  });
}

export const summariser = new MockLanguageModelV4({
  doGenerate: async ({ prompt }) =>
    answer([{ type: 'text', text: `${prompt.length} messages about the files of the export.` }], 'stop'),
});

export const filesOf = (path: string): string =>
  Array.from({ length: 30 }, (_, line) => `${line + 1}  export const value${line} = '${path}';`).join('\n');

type Answer = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>;

function answer(content: Answer['content'], unified: 'stop' | 'tool-calls'): Answer {
  const none = undefined;
  return {
    content,
    finishReason: { unified, raw: none },
    usage: {
      inputTokens: { total: none, noCache: none, cacheRead: none, cacheWrite: none },
      outputTokens: { total: none, text: none, reasoning: none },
    },
    warnings: [],
  };
}
