/**
 * A worker that dies inside the first task costs the buyer this long, so it is short; workflows/steps.ts keeps local activities under 80 % of it.
 */
export const WORKFLOW_TASK_TIMEOUT_MS = 5_000;
