import { READS_ALL, type InstallReader } from '../domain/account.ts';
import type { WorldDb } from '../platform/database/tables.ts';
import { fillQrCodeUrl, sealedEsimOf } from '../webhooks/event-rules.ts';
import type { InstallData } from './install-data.ts';
import { findInstallRows } from './store/install-data.ts';

interface Deps {
  readonly db: WorldDb;
  readonly installData: Pick<InstallData, 'open'>;
}

/**
 * A message's body as it is signed and sent: a stored one only names the eSIM whose QR address it contains.
 * Throws SERVICE_UNAVAILABLE as `open`.
 */
export async function completeBody(deps: Deps, body: string): Promise<string> {
  const [complete = body] = await completeBodies(deps, [body], READS_ALL);
  return complete;
}

/** The same for several, as this caller may read them, with one statement at most. */
export async function completeBodies(
  { db, installData }: Deps,
  bodies: readonly string[],
  reader: InstallReader,
): Promise<string[]> {
  const named = bodies.flatMap((body) => sealedEsimOf(body) ?? []);
  if (named.length === 0) return [...bodies];
  const rows = new Map((await findInstallRows(db, named)).map((row) => [row.id, row]));
  return bodies.map((body) => {
    const esimId = sealedEsimOf(body);
    if (esimId === undefined) return body;
    const row = rows.get(esimId);
    return fillQrCodeUrl(body, row ? installData.open(row, reader).qr_code_url : '');
  });
}
