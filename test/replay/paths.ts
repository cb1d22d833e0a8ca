// Every path through the workflows that has its history on record, by the name of its file.
export const RECORDED_PATHS = [
  'base-success',
  'top-up-success',
  'insufficient-balance',
  'refused',
  'refused-by-old-catalogue',
  'refused-after-doubt',
  'answer-lost',
  'processing-then-success',
  'attention-then-success',
  'settle-failed-then-settled',
  'cancel-requested',
  'sync-catalogue',
  'refresh-rates',
  'refresh-usage',
  'sweep',
] as const;

export type RecordedPath = (typeof RECORDED_PATHS)[number];
