// The install data of an eSIM as its owner sees it: rows contain it encrypted.
import type { Kysely } from 'kysely';
import { READS_ALL } from '../../../src/domain/account.ts';
import { createInstallData, type InstallData } from '../../../src/esims/install-data.ts';
import type { WorldDatabase } from '../../../src/platform/database/tables.ts';
import { createSecretBox } from '../../../src/platform/secret-box.ts';

/** Encrypted with a test's own key. */
export function installDataWith(key = '0'.repeat(64), previousKeys: readonly string[] = []): InstallData {
  return createInstallData({
    secretBox: createSecretBox({ key, previousKeys }),
    onUnreadable: () => undefined,
  });
}

interface Sealing {
  readonly owner: Kysely<WorldDatabase>;
  readonly env: Readonly<Record<string, string>>;
}

/** The secrets of one eSIM of a stack. */
export async function installOf({ owner, env }: Sealing, esimId: string) {
  const row = await owner.selectFrom('esims').selectAll().where('id', '=', esimId).executeTakeFirstOrThrow();
  const { ac, matching_id, qr_code_url, short_url, pin, puk } = installDataWith(
    env['SIMWAY_SECRETS_KEY'],
  ).open(row, READS_ALL);
  return { ac, matching_id, qr_code_url, short_url, pin, puk };
}

/** The secrets of every delivered eSIM of a stack, each text once. */
export async function allInstallSecrets(stack: Sealing): Promise<string[]> {
  const rows = await stack.owner.selectFrom('esims').select('id').where('iccid', '<>', '').execute();
  const known = await Promise.all(rows.map(({ id }) => installOf(stack, id)));
  const texts = known.flatMap((one) => Object.values(one));
  return [...new Set(texts)].filter((text): text is string => text !== null && text !== '');
}
