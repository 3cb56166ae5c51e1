/** What Stepfast itself writes while a run goes on: no tree covers it. */
export const stepfastFiles: readonly string[] = ['.stepfast/runs', '.stepfast/sessions'];
