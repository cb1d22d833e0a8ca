// Every path that a workflow can take ends on the Temporal that docker-compose.yml deploys, as it does on the
// development server of the other tests, and what it records replays.
import { Connection } from '@temporalio/client';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { readBundle } from '../../src/platform/temporal/bundle.ts';
import { replayAll } from '../replay/gate.ts';
import type { RecordedHistory } from '../replay/histories.ts';
import { RECORDED_PATHS } from '../replay/paths.ts';
import { openRecording, RECORDING_ENV, walk } from '../replay/walks.ts';
import { eventTypes } from '../support/world/history.ts';
import { forFile } from '../support/world/for-file.ts';
import { startStack } from '../support/world/stack.ts';
import { DEPLOYED_TEMPORAL } from '../support/world/temporal-server-program.ts';

const stack = await forFile(startStack({ env: RECORDING_ENV }));
const recorded: RecordedHistory[] = [];
let recording: Awaited<ReturnType<typeof openRecording>>;
beforeAll(async () => {
  recording = await openRecording(stack);
  return () => recording.close();
});

it('is the version that docker-compose.yml names', async () => {
  const connection = await Connection.connect({ address: inject('temporalAddress') });
  const { serverVersion } = await connection.workflowService.getSystemInfo({});
  await connection.close();
  expect(serverVersion).toBe(DEPLOYED_TEMPORAL);
});

describe('a workflow ends on it', () => {
  it.each(RECORDED_PATHS)('%s', async (path) => {
    const history = await walk(recording, path);
    recorded.push({ name: path, history });
    expect(eventTypes(history).at(-1)).toMatch(/^WORKFLOW_EXECUTION_(COMPLETED|FAILED|CONTINUED_AS_NEW)$/);
  });
});

it('what it has recorded replays on today’s workflow code', async () => {
  const results = await replayAll(await readBundle(inject('workflowBundle')), recorded);
  expect(results.map(({ name }) => name)).toEqual([...RECORDED_PATHS]);
  expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
});
