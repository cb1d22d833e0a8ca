/** What a run was asked for; every promise's bench takes the same. */
import type { ServiceLog } from '../../src/dev/child.ts';

export interface BenchOptions {
  /** Length of a slice; each bench has its own default. */
  readonly sliceMs: number | undefined;
  readonly rounds: number;
  readonly progress: (line: string) => void;
  readonly log: ServiceLog;
  /** The long steady run that the promise asks for, instead of the comparison: its length. */
  readonly soakMs: number | undefined;
  /** SQL files of pgledger itself, where the caller has them. */
  readonly pgledgerFiles: readonly string[];
  /** Folder for CPU profiles of API and worker. */
  readonly profileDir: string | undefined;
  /** L3: orders in the large table, and of the large account; its own default without. */
  readonly orders: number | undefined;
  /** L2: purchases with webhook endpoints alone. */
  readonly webhooksOnly: boolean;
}
