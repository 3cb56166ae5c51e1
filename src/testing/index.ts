export * from './library.ts';
// These also have the runtime, and replace the library's.
export { createTestFolder, createTestProject, runtimeIn, type TestProject } from './project.ts';
