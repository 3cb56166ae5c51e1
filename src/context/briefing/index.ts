export { artifactsText } from './artifacts-text.ts';
export { briefingJson } from './briefing-json.ts';
export type { PartName } from './briefing-part.ts';
export { briefingSection } from './briefing-section.ts';
export type { BriefingSource, ReadingFile, SectionName } from './briefing-source.ts';
export { maxArtifacts } from './budget-bounds.ts';
export { type Briefing, type BriefingSection, type Cap, compileBriefing } from './compile-briefing.ts';
export { failureLines, gateExcerpt } from './failure-excerpt.ts';
