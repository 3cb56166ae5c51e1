export { artifactsText } from './artifacts-text.ts';
export { briefingJson } from './briefing-json.ts';
export { briefingSection } from './briefing-section.ts';
export type { BriefingSource, SectionName } from './briefing-source.ts';
export { maxArtifacts } from './budget-bounds.ts';
export { type Briefing, type BriefingSection, type Cap, compileBriefing } from './compile-briefing.ts';
export { failureLines, gateExcerpt } from './failure-excerpt.ts';
