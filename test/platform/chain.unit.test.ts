// How middleware follow each other, without HTTP.
import { expect, test } from 'vitest';
import { chain } from '../../src/platform/http/chain.ts';
import type { Middleware, RequestKoa } from '../../src/platform/http/request.ts';
import { whenKnown } from '../../src/platform/when-known.ts';

const ctx = {} as RequestKoa;

function steps() {
  const passed: string[] = [];
  const atOnce =
    (name: string): Middleware =>
    (given, next) => {
      passed.push(name);
      return next(given);
    };
  const later =
    (name: string): Middleware =>
    async (given, next) => {
      await Promise.resolve();
      passed.push(name);
      await next(given);
    };
  return { passed, atOnce, later };
}

test('a request passes all of them in order, without waiting where none of them waits', () => {
  const { passed, atOnce } = steps();
  expect(chain([atOnce('a'), atOnce('b'), atOnce('c')])(ctx)).toBeUndefined();
  expect(passed).toEqual(['a', 'b', 'c']);
});

test('one that waits keeps the rest waiting', async () => {
  const { passed, atOnce, later } = steps();
  const waiting = chain([atOnce('a'), later('b'), atOnce('c')])(ctx);
  expect(passed).toEqual(['a']);
  await waiting;
  expect(passed).toEqual(['a', 'b', 'c']);
});

test('a middleware that throws, or does not call next, ends the chain', () => {
  const { passed, atOnce } = steps();
  const stop: Middleware = () => undefined;
  expect(chain([atOnce('a'), stop, atOnce('b')])(ctx)).toBeUndefined();
  const fail: Middleware = () => {
    throw new Error('refused');
  };
  expect(() => chain([atOnce('c'), fail, atOnce('d')])(ctx)).toThrow('refused');
  expect(passed).toEqual(['a', 'c']);
});

test('what is thrown behind one that waits is a rejection', async () => {
  const { later } = steps();
  const fail: Middleware = () => {
    throw new Error('refused');
  };
  await expect(chain([later('a'), fail])(ctx)).rejects.toThrow('refused');
});

test('a known value is used at once, a promised one when it arrives', async () => {
  const used: number[] = [];
  const use = (value: number): void => void used.push(value);
  expect(whenKnown(1, use)).toBeUndefined();
  const waiting = whenKnown(Promise.resolve(2), use);
  expect(used).toEqual([1]);
  await waiting;
  expect(used).toEqual([1, 2]);
});
