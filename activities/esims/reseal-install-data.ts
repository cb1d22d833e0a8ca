import { listSealPrefixes, resealBatch, type InstallRow } from '../../src/esims/store/install-data.ts';
import { keyIdOf } from '../../src/platform/secret-box.ts';
import type { ActivityDeps } from '../deps.ts';

/** 60,000 rows on a busy machine. The next run continues. */
const RUNS_FOR_MS = 20_000;

/**
 * Seals anew the install data that is sealed with an earlier key; reports seals whose key is not here.
 * Returns a line.
 */
export async function resealInstallData(
  deps: Pick<ActivityDeps, 'db' | 'clock' | 'events' | 'installData'> & {
    readonly webhooks: Pick<ActivityDeps['webhooks'], 'secretBox'>;
  },
): Promise<string> {
  const { db, clock, events } = deps;
  const endsAtMs = clock.now().getTime() + RUNS_FOR_MS;
  const isOver = () => clock.now().getTime() > endsAtMs;
  const [current, ...earlier] = deps.webhooks.secretBox.prefixes;
  let again = 0;
  const stored = await listSealPrefixes(db);
  for (const prefix of stored) {
    if (current?.equals(prefix)) continue;
    if (earlier.some((one) => one.equals(prefix))) again += await resealAll(deps, prefix, isOver);
    else events.sealingKeyMissing({ keyId: keyIdOf(prefix) });
  }
  return `${again} eSIMs resealed`;
}

async function resealAll(
  { db, installData }: Pick<ActivityDeps, 'db' | 'installData'>,
  prefix: Buffer,
  isOver: () => boolean,
): Promise<number> {
  let after = '';
  let resealed = 0;
  for (;;) {
    const { count, last } = await resealBatch(db, { prefix, after, limit: BATCH }, (row) =>
      resealedOrKept(installData, row),
    );
    resealed += count;
    if (last === undefined || isOver()) return resealed;
    after = last;
  }
}

/** A statement of this many rows takes tens of milliseconds. */
const BATCH = 1_000;

/** A seal that is broken stays as it is; `open` has reported it. */
function resealedOrKept(installData: ActivityDeps['installData'], row: InstallRow): Buffer | undefined {
  try {
    return installData.resealed(row);
  } catch {
    return undefined;
  }
}
