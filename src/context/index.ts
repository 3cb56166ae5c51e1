export type { Artifact } from './artifacts/artifact.ts';
export { loadArtifacts } from './artifacts/load-artifacts.ts';
export {
  artifactsText,
  type Briefing,
  type BriefingSection,
  type BriefingSource,
  briefingJson,
  briefingSection,
  type Cap,
  compileBriefing,
  failureLines,
  gateExcerpt,
  maxArtifacts,
  type SectionName,
} from './briefing/index.ts';
export { deniedPath } from './secrets/denied-path.ts';
export { redaction, redactQuickly, redactSecrets, withoutSecrets } from './secrets/redact.ts';
