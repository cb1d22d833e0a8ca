// The API's connection to Temporal, closed while a call of it waits for its next try.
import { expect, it } from 'vitest';
import { connectClient } from '../../src/platform/temporal/connect.ts';
import { freePort } from '../../src/dev/ports.ts';

it('is closed in the middle of a call that is tried again: the call ends, and so does trying', async () => {
  const temporal = connectClient({ address: `127.0.0.1:${await freePort()}`, namespace: 'none' });
  const called = expect(temporal.client.workflow.getHandle('nobody').describe()).rejects.toThrow();
  await new Promise((resolve) => setTimeout(resolve, 50));
  await temporal.close();
  await called;
  // What would be tried now throws where only the runner sees it.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
});
