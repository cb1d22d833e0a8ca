import { OperatorMistake } from '../../platform/command.ts';

const LEAST_MAJOR = 24;

/**
 * Throws OperatorMistake for an older version. Node 22 strips types too, so it would start and fail somewhere
 * later.
 */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= LEAST_MAJOR) return;
  throw new OperatorMistake(
    `Simway needs Node ${LEAST_MAJOR}, and this is ${version}. npm ci installs it; npm run simway -- <command> uses it`,
  );
}
