/** `simway patches`: which code behind `patched()` open workflows still need, in each environment. */
import { worldConfigs } from '../app/composition/context.ts';
import { connectClient } from '../platform/temporal/connect.ts';
import { countPatches, type OpenPatches } from '../platform/temporal/patches.ts';
import { openCommand, type Cli } from './context.ts';
import { createOutput } from './finance/output.ts';

/** Prints a table for each environment, or one JSON value. Changes nothing. */
export async function printPatches(cli: Cli, isJson: boolean): Promise<void> {
  const { config, secrets } = await openCommand(cli);
  const out = createOutput(cli.terminal, isJson);
  const found: object[] = [];
  for (const { environment, namespace } of worldConfigs(config)) {
    const temporal = connectClient({ ...secrets.temporal, namespace });
    let open: OpenPatches;
    try {
      open = await countPatches(temporal);
    } finally {
      await temporal.close();
    }
    const patches = open.patches.map(toRow);
    found.push({ world: environment, namespace, openWorkflows: open.openWorkflows, patches });
    const none = patches.length === 0 ? ', none with a patch' : '';
    out.line(`namespace ${namespace}: ${open.openWorkflows} open workflows${none}`);
    if (patches.length > 0)
      out.table(
        ['patch', 'workflow', 'with', 'without', 'oldest without'],
        patches.map((row) => Object.values(row).map((value) => String(value ?? ''))),
      );
  }
  out.json(found);
}

const toRow = (one: OpenPatches['patches'][number]) => ({
  patch: one.patch,
  workflow: one.workflowType,
  with: one.marked,
  without: one.unmarked,
  oldestWithout: one.oldestUnmarkedAt?.toISOString() ?? null,
});
