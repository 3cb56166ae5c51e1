import { didYouMean } from '../suggest.ts';
import type { Checked } from './check-steps.ts';
import { child, entries, items, type MapNode, maps, type Node, type Report, textOf } from './yaml-tree.ts';

const origins = ['path', 'path_from_state', 'command'];

/** Critical artifacts, required reading and the to-do path. */
export function checkArtifacts(checked: Checked): void {
  const { root, report } = checked;
  const seen = new Set<string>();
  for (const [, { value }] of entries(child(root, 'critical_artifacts'))) {
    for (const artifact of maps(value)) {
      const node = child(artifact, 'id');
      const id = textOf(node) ?? '';
      if (node !== undefined && seen.has(id))
        report(
          'error',
          'duplicate_id',
          node,
          `Critical artifact '${id}' is given twice`,
          'Give each its own id.',
        );
      seen.add(id);
      checkArtifact(artifact, id, checked);
    }
  }
  for (const entry of items(child(root, 'required_reading'))) checkReading(entry, report);
  checkWritten('todo_path', 'docs/TODO.md', checked);
  checkWritten('state_mirror', 'untracked/workflow-state', checked);
}

/** A path that Stepfast writes to: not the root itself. */
function checkWritten(key: string, example: string, { root, report }: Checked): void {
  const node = child(root, key);
  const path = textOf(node);
  if (node === undefined || !path || !/^(?:\.?[/\\])*\.?$/.test(path)) return checkPath(node, key, report);
  const message = `${key} must be below the root of the project, got '${path.slice(0, 100)}'`;
  report('error', 'bad_path', node, message, `Write for instance ${example}`);
}

function checkArtifact(artifact: MapNode, id: string, checked: Checked): void {
  const { report } = checked;
  const found = origins.filter((key) => artifact.entries.has(key));
  const needed = textOf(child(artifact, 'type')) === 'git_info' ? 0 : 1;
  if (found.length < needed || found.length > 1) {
    const got = found.length === 0 ? 'none of them' : found.join(' and ');
    report(
      'error',
      'artifact_origin',
      artifact,
      `Critical artifact '${id}' needs exactly one of path, path_from_state, command; it has ${got}`,
    );
  }
  checkPath(child(artifact, 'path'), `Critical artifact '${id}' path`, report);
  const command = child(artifact, 'command');
  const text = textOf(command);
  if (command !== undefined && text !== undefined && !text.startsWith('/')) {
    report(
      'error',
      'not_slash_command',
      command,
      `Critical artifact '${id}' command must be a slash command, got '${text.slice(0, 60)}'`,
      `Write for instance "/${text.split(/\s/, 1)[0]?.slice(0, 40) ?? ''}"; shell commands belong to a gate.`,
    );
  }
  for (const trigger of items(child(artifact, 'reload_triggers'))) checkPhases(trigger, checked);
}

function checkPhases(node: Node, { stepIds, report }: Checked): void {
  const [head, phases] = (textOf(node) ?? '').split(':', 2);
  if ((head !== 'phase_start' && head !== 'phase_transition') || phases === undefined) return;
  for (const phase of phases.split('->')) {
    if (stepIds.has(phase)) continue;
    report(
      'warning',
      'unknown_phase',
      node,
      `The trigger ${head}:${phases.slice(0, 140)} names phase '${phase.slice(0, 64)}', and no step has that id`,
      () => didYouMean(phase, stepIds),
    );
  }
}

export function checkPath(node: Node | undefined, what: string, report: Report): void {
  const path = textOf(node);
  if (node === undefined || path === undefined) return;
  const inside = path.startsWith('{project_root}/') ? path.slice('{project_root}/'.length) : path;
  const absolute = /^(?:[/\\~]|[A-Za-z]:)/.test(inside);
  if (!absolute && !inside.split(/[/\\]/).includes('..')) return;
  report(
    'error',
    'bad_path',
    node,
    `${what} must stay inside the project, got '${path.slice(0, 100)}'`,
    'Write it from the root of the project, without .. in it.',
  );
}

function checkReading(node: Node, report: Report): void {
  const path = textOf(node);
  if (path === undefined || (path.startsWith('@') && path.length > 1)) return;
  report(
    'error',
    'reading_without_at',
    node,
    `Required reading '${path.slice(0, 100)}' must begin with @`,
    path === '@' ? 'Write for instance "@docs/plan.md"' : `Write ${JSON.stringify(`@${path.trim()}`)}`,
  );
}
