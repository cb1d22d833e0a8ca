/** Which Node runs us: an older one may start, since it strips types too, and then fails in the middle of something. */
import { OperatorMistake } from '../operator-mistake.ts';

const LEAST_MAJOR = 24;

/** Throws OperatorMistake, which says what to do, for a version such as `22.18.0`. */
export function requireNode(version: string): void {
  if (Number.parseInt(version, 10) >= LEAST_MAJOR) return;
  throw new OperatorMistake(
    `this is Node ${version}, and Simway needs ${LEAST_MAJOR}: npm ci brings one along, which npm run simway -- <command> uses`,
  );
}
