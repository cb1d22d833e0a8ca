import { listStuckEnvironment } from 'simway-client/generated/ops-lists.ts';

export const ENVIRONMENTS = listStuckEnvironment;
export type Environment = (typeof ENVIRONMENTS)[number];
