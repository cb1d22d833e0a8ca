// No change to the workflow code may break an open purchase: the recorded histories of each release must
// replay on today's code.
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { WorkflowBundleOption } from '@temporalio/worker';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { bundleWorkflows, readBundle } from '../../src/platform/temporal/bundle.ts';
import { dataConverterOf } from '../../src/platform/temporal/payload-codec.ts';
import { installRuntime } from '../../src/platform/temporal/runtime.ts';
import * as workflows from '../../workflows/index.ts';
import { payloadTexts } from '../support/world/history.ts';
import { replayAll } from './gate.ts';
import { readHistories, type RecordedHistory } from './histories.ts';
import { RECORDED_PATHS } from './paths.ts';

let histories: RecordedHistory[];
let today: WorkflowBundleOption;
beforeAll(async () => {
  // Some tests expect refusals, which should not fill the console.
  installRuntime(silent);
  histories = await readHistories();
  today = await readBundle(inject('workflowBundle'));
});

const noop = (): void => undefined;
const silent = { log: noop, trace: noop, debug: noop, info: noop, warn: noop, error: noop };

const workflowTypeOf = ({ history }: RecordedHistory): string => {
  const started = history.events[0]?.['workflowExecutionStartedEventAttributes'] as {
    workflowType: { name: string };
  };
  return started.workflowType.name;
};

describe('the recorded histories', () => {
  it('all replay on today’s workflow code', async () => {
    const results = await replayAll(today, histories);
    expect(results.map(({ name }) => name)).toEqual(histories.map(({ name }) => name));
    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('all replay while payloads are encrypted: older ones are in clear', async () => {
    const keys = { key: randomBytes(32).toString('hex'), previousKeys: [] };
    const converter = dataConverterOf({ keys, namespace: 'simway-test' });
    const results = await replayAll(today, histories, converter);
    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
  });

  it('cover every path and every workflow', () => {
    const paths = new Set(histories.map(({ name }) => name.split('/').at(-1)));
    expect(RECORDED_PATHS.filter((path) => !paths.has(path))).toEqual([]);
    const types = new Set(histories.map(workflowTypeOf));
    expect(Object.keys(workflows).filter((name) => !types.has(name))).toEqual([]);
  });

  it('contain no secret, machine name or path', () => {
    const forbidden =
      /LPA:1|_test_[0-9A-Za-z]{16}|_live_[0-9A-Za-z]{16}|whsec_|node_modules|file:\/\/|"(?:pin|puk|ac|matchingId|activationCode)"/;
    for (const { name, history } of histories) {
      const texts = [JSON.stringify(history), ...payloadTexts(history)];
      expect(texts.length, name).toBeGreaterThan(3);
      for (const text of texts) {
        expect(text, name).not.toMatch(forbidden);
        expect(text.split(/[^\w.-]+/), name).not.toContain(hostname());
        expect(text, name).not.toContain(join(import.meta.dirname, '..', '..'));
      }
    }
  });
});

describe('the gate', () => {
  const bundle = (fixture: string): Promise<WorkflowBundleOption> =>
    bundleWorkflows(join(import.meta.dirname, 'fixtures', fixture));
  const purchases = (): RecordedHistory[] =>
    histories.filter((recorded) => workflowTypeOf(recorded) === 'purchase');

  it('refuses code with one more timer at the beginning, for every recorded purchase', async () => {
    const results = await replayAll(await bundle('one-timer-more.ts'), purchases());
    expect(results.length).toBeGreaterThan(0);
    expect(results.filter(({ error }) => error?.name !== 'DeterminismViolationError')).toEqual([]);
  });

  it('refuses code with one more search attribute at the end, for every purchase that ended', async () => {
    const results = await replayAll(await bundle('one-attribute-more.ts'), purchases());
    expect(results.filter(({ error }) => error?.name !== 'DeterminismViolationError')).toEqual([]);
  });

  it('accepts the same code bundled from another file', async () => {
    const results = await replayAll(await bundle('nothing-changed.ts'), purchases());
    expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
  });
});
