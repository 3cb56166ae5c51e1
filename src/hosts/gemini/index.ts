export { extensionFolder, extensionHooks, extensionManifest } from './extension.ts';
export { gemini } from './gemini.ts';
