import { expect, it } from 'vitest';
import { fillPlaceholders, renderWithPlaceholders } from '../../src/purchases/stored-answers.ts';
import type { EsimView } from '../../src/esims/install-data.ts';

const ESIM = {
  iccid: '8944',
  ac: 'LPA:1$rsp.example.com$"K$1"',
  matching_id: 'K$1',
  qr_code_url: '',
  short_url: '',
};
const ROW = {
  ac: ESIM.ac,
  matching_id: ESIM.matching_id,
  qr_code_url: 'known later',
  short_url: 'known later',
};
const render = (esim: EsimView) => JSON.stringify({ b: 1, ...esim });

it('a stored answer has no secret, and is filled to the same bytes for each caller', () => {
  const { body, stored } = renderWithPlaceholders(ESIM as EsimView, render);
  expect(body).toBe(render(ESIM as EsimView));
  expect(stored).toBe(
    '{"b":1,"iccid":"8944","ac":\u0001ac\u0001,"matching_id":\u0001matching_id\u0001,"qr_code_url":"","short_url":""}',
  );
  expect(fillPlaceholders(stored, ROW)).toBe(body);
});

it('text that only looks like a placeholder is left alone', () => {
  const text = '{"name":"\\\\u0001ac\\\\u0001","other":"\\u0001iccid\\u0001"}';
  expect(fillPlaceholders(text, ROW)).toBe(text);
});
