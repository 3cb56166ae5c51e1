import type { Statement } from './database.ts';

const call = (name: string, args: number, rows = true): Statement => {
  const list = Array.from({ length: args }, (_, index) => `$${index + 1}`).join(', ');
  return { name, text: `select ${rows ? '* from ' : ''}stepfast.${name}(${list})` };
};

/** The calls of servers; each is a function of the schema. */
export const statements = {
  load: call('load_1', 3),
  create: call('create_1', 15, false),
  append: call('append_1', 13),
  entries: call('entries_2', 4),
  definitions: call('definitions_1', 2),
  ids: call('ids_1', 4),
  page: call('page_1', 6),
  runList: call('run_list_1', 6),
  seqs: call('seqs_1', 2),
  joinSession: call('join_session_1', 4, false),
  sessionRuns: call('session_runs_1', 3),
  publish: call('publish_1', 6, false),
  publications: call('publications_1', 3),
  mayStart: call('may_start_1', 2, false),
  tail: call('tail_1', 4),
  tailEnd: call('tail_end_1', 0),
  views: call('views_1', 2),
  scan: call('scan_1', 4),
  putRows: call('put_rows_1', 9, false),
  rowCursor: call('row_cursor_1', 1, false),
  rows: call('rows_1', 5),
  rowCounts: call('row_counts_1', 1),
  rowNeeds: call('row_needs_1', 2),
  keep: call('keep_1', 4, false),
  text: call('text_1', 3, false),
  addUsage: call('add_usage_1', 3),
  remove: call('remove_1', 2, false),
  makeMonths: call('make_months_1', 1, false),
  findToken: call('find_token_3', 1),
  useToken: call('use_token_1', 2, false),
  makeToken: call('make_token_1', 6, false),
  joinPerson: call('join_person_1', 6, false),
  passphrase: call('passphrase_1', 2, false),
  makeCredential: call('make_credential_1', 7, false),
  audit: call('audit_1', 9, false),
  projectNamed: call('project_named_1', 1, false),
  projectIds: call('project_ids_1', 0),
} as const;
