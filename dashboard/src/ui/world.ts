export type World = 'live' | 'test';
