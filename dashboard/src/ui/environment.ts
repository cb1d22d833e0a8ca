import { listStuckEnvironment } from '../api/generated/ops-lists.ts';

export const ENVIRONMENTS = listStuckEnvironment;
export type Environment = (typeof ENVIRONMENTS)[number];
