// What people paste into searches, and addresses of pages.
import { describe, expect, it } from 'vitest';
import { isFoundIn, searchText } from '../../packages/client/search-text.ts';
import { textOfSearch } from '../../dashboard/src/ui/address.ts';
import { entryFilters, esimFilters } from '../../dashboard/src/merchant/filters.ts';

describe('a text that is searched for', () => {
  it.each([
    [' 8999926112619380143 ', '8999926112619380143'],
    ['8999 9261 1261 9380 143', '8999926112619380143'],
    ['8999\u00A09261\u200B1261 9380 143F', '8999926112619380143'],
    ['8999926112619380143f', '8999926112619380143'],
    ['Tu\u0308rkiye  1GB', 'Türkiye 1GB'],
    ['5 F', '5 F'],
    ['booking 4711', 'booking 4711'],
    ['TXN-20A6CBF7D8B0E8914044863AF6CDDD0C', 'txn-20a6cbf7d8b0e8914044863af6cddd0c'],
    ['Event-151', 'event-151'],
    ['MY-ORDER-7', 'MY-ORDER-7'],
    ['CUST-003', 'CUST-003'],
    ['  ', ''],
  ])('%j is %j', (typed, text) => {
    expect(searchText(typed)).toBe(text);
  });

  it.each([
    ['Türkiye 1GB 7Days', 'turkiye'],
    ['Türkiye 1GB 7Days', 'Tu\u0308rkiye'],
    ['Türkiye 1GB 7Days', 'Turkey 1GB'],
    ['Turkey 1GB 7Days', 'Türkiye'],
    ['Türkiye 1GB 7Days', 'Turke'],
    ['Türkiye 1GB 7Days', 'Turkey 1G'],
    ['Curaçao 1GB', 'Curacao'],
    ['São Tomé and Príncipe', 'sao tome'],
    ['Côte d’Ivoire', 'Ivory Coast'],
    ["Cote d'Ivoire", 'côte d’ivoire'],
    ['Myanmar', 'Burma'],
    ['United States 5GB', 'USA'],
  ])('%j is found by %j', (text, search) => {
    expect(isFoundIn(text, search)).toBe(true);
  });

  it('finds no country that only has another name within its name', () => {
    expect(isFoundIn('United Kingdom 1GB', 'Ukraine')).toBe(false);
    expect(isFoundIn('Nigeria 1GB', 'Turkey')).toBe(false);
    expect(isFoundIn('Ukraine (17)', 'England')).toBe(false);
    expect(isFoundIn('American Samoa (3)', 'USA')).toBe(false);
    expect(isFoundIn('Ukraine (17)', '(england')).toBe(false);
  });
});

describe('the address of a page', () => {
  it('keeps text as text, and leaves out what is not given', () => {
    const address = textOfSearch({ search: '89999261126193801432', status: undefined, kind: 'a&b=c' });
    expect(address).toBe('?search=89999261126193801432&kind=a%26b%3Dc');
    expect(esimFilters(Object.fromEntries(new URLSearchParams(address)))).toMatchObject({
      search: '89999261126193801432',
    });
    expect(textOfSearch({ from: undefined })).toBe('');
  });

  it.each(['2026-02-30', '2026-13-01', '2025-02-29', '2026-1-1', 'today'])('has no day %s', (from) => {
    expect(entryFilters({ from }).from).toBeUndefined();
    expect(entryFilters({ from: '2024-02-29' }).from).toBe('2024-02-29');
  });
});
