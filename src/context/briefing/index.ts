export { artifactsText } from './artifacts-text.ts';
export { briefingSection } from './briefing-section.ts';
export { type Briefing, type BriefingSection, type Cap, compileBriefing } from './compile.ts';
export { linesThatTell } from './failure-excerpt.ts';
export { briefingJson } from './forms.ts';
export type { BriefingSource, SectionName } from './source.ts';
export { sectionNames } from './source.ts';
