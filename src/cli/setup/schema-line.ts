import { existsSync } from 'node:fs';
import { join } from 'node:path';

const inPackage = 'node_modules/stepfast/schema/workflow.schema.json';

/** The schema as a workflow of the project refers to it, if the package is installed in the project. */
export const schemaIn = (root: string): string | undefined =>
  existsSync(join(root, inPackage)) ? `../../${inPackage}` : undefined;

/** For a project without the package: no path of this machine, because workflows are committed. */
export const publishedSchema = (version: string): string =>
  `https://unpkg.com/stepfast@${version}/schema/workflow.schema.json`;

/** Editors read it: completion and checks while a person types. */
export const schemaLine = (schema: string): string => `# yaml-language-server: $schema=${schema}\n`;
