import type { SecretLintRuleContext, SecretLintSourceCode } from '@secretlint/types';

export interface SecretFinding {
  rule: string;
  from: number;
  to: number;
}

/**
 * Runs secretlint's recommended rules on a text. They are called directly: `@secretlint/core` obeys
 * `secretlint-disable` comments, prints the text if DEBUG is set, and cannot be bundled as an ES module.
 */
export async function secretlintFindings(text: string): Promise<SecretFinding[]> {
  const { rules } = await import('@secretlint/secretlint-rule-preset-recommend');
  const findings: SecretFinding[] = [];
  const source = sourceOf(text);
  for (const { meta, create } of rules) {
    const reads = meta.supportedContentTypes.some((type) => type === 'text' || type === 'all');
    if (!reads || meta.id.endsWith('-filter-comments')) continue;
    const context: SecretLintRuleContext = {
      sharedOptions: {},
      createTranslator: () => (messageId) => ({ message: '', messageId: String(messageId), data: {} }),
      ignore: () => {},
      report: ({ range: [from, to] }) => findings.push({ rule: shortName(meta.id), from, to }),
    };
    await create(context, {}).file?.(source);
  }
  return findings;
}

/** A text without a file name or extension, so that no rule opens a file. */
function sourceOf(text: string): SecretLintSourceCode {
  const nowhere = { line: 1, column: 0 };
  return {
    content: text,
    hasBOM: false,
    filePath: 'text',
    physicalFilePath: undefined,
    contentType: 'text',
    ext: '',
    getFilePath: () => 'text',
    getPhysicalFilePath: () => undefined,
    indexToPosition: () => nowhere,
    positionToIndex: () => 0,
    locationToRange: () => [0, 0],
    rangeToLocation: () => ({ start: nowhere, end: nowhere }),
  };
}

const shortName = (id: string): string => id.replace(/^.*secretlint-rule-/, '');
