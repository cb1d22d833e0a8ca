// A migrated database that already has the catalogue of a stack's supplier, so that no stack has to import
// it.
import { rm } from 'node:fs/promises';
import { replaceCatalogue } from '../../../src/catalogue/store/catalogue.ts';
import type { WorldDatabase } from '../../../src/platform/database/tables.ts';
import { createEsimAccessSupplier } from '../../../src/vendors/esim-access/supplier.ts';
import { createEsimAccessSimulator } from '../../../packages/simulators/esim-access/index.ts';
import { MIGRATED, openSchema, type Template } from './database.ts';
import { FEW_LOCATIONS } from '../vendors/own-simulators.ts';
import { makeTestFolder } from './test-folder.ts';

export const STOCKED: Template = {
  name: 'stocked',
  of: MIGRATED,
  fill: (databaseUrl) => writeCatalogue(databaseUrl, FEW_LOCATIONS),
};

export const STOCKED_WHOLE: Template = { name: 'stocked_whole', of: MIGRATED, fill: writeCatalogue };

async function writeCatalogue(databaseUrl: string, locations?: readonly string[]): Promise<void> {
  const dataDir = await makeTestFolder();
  const accessCode = 'test-access';
  const simulator = createEsimAccessSimulator({ dataDir, accessCode, locations });
  const db = openSchema<WorldDatabase>(databaseUrl, 'test');
  try {
    const { url: baseUrl } = await simulator.start();
    const supplier = createEsimAccessSupplier({
      baseUrl,
      accessCode,
      sign: true,
      pacer: { takeSlot: () => Promise.resolve(true) },
      clock: { now: () => new Date() },
    });
    await replaceCatalogue(db, await supplier.catalogue(), new Date());
    supplier.close();
  } finally {
    await db.destroy();
    await simulator.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
