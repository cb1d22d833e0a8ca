import { describe, expect, it } from 'vitest';
import { parseLpa } from '../../src/esims/rules.ts';

describe('parseLpa', () => {
  it.each([
    ['LPA:1$rsp.example.com$K2-1A2B3C', 'rsp.example.com', 'K2-1A2B3C'],
    ['LPA:1$smdp$ABC', 'smdp', 'ABC'],
    ['LPA:1$x$ABC', 'x', 'ABC'],
    ['LPA:1$rsp.example.com$', 'rsp.example.com', ''],
    ['LPA:1$rsp.example.com$K2$1.3.6.1.4.1.31746', 'rsp.example.com', 'K2'],
    ['LPA:1$rsp.example.com$K2$1.3.6.1.4.1.31746$1', 'rsp.example.com', 'K2'],
    ['LPA:1$rsp.example.com$K2$$1', 'rsp.example.com', 'K2'],
  ])('reads %s', (ac, smdpAddress, matchingId) => {
    expect(parseLpa(ac)).toEqual({ smdpAddress, matchingId });
  });

  it.each([
    '',
    'LPA:1',
    'LPA:1$rsp.example.com',
    'LPA:1$$K2',
    'LPA:2$rsp.example.com$K2',
    '1$rsp.example.com$K2',
    'lpa:1$rsp.example.com$K2',
    ' LPA:1$rsp.example.com$K2',
    'LPA:1$rsp.example.com$K2\n',
    'LPA:1$rsp example.com$K2',
    'LPA:1$rsp.example.com.$K2',
    'LPA:1$rsp.example.com/evil$K2',
    'LPA:1$rsp.example.com$K2 3',
    'LPA:1$rsp.example.com$K2$a$b$c',
    'https://rsp.example.com/K2',
  ])('finds none in %j', (ac) => {
    expect(parseLpa(ac)).toEqual({ smdpAddress: '', matchingId: '' });
  });
});
